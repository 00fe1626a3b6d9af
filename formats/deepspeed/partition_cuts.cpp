// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/partition_cuts.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace ttcheck::formats {

std::vector<std::int64_t> starts_of(const std::vector<Candidate>& group,
                                    std::span<const std::int64_t> paddings) {
  std::vector<std::int64_t> starts = {0};
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::int64_t next = checked_add(starts.back(), element_count(group[i].shape));
    if (i < paddings.size()) next = checked_add(next, paddings[i]);
    starts.push_back(next);
  }
  return starts;
}

std::vector<Cut> cuts_of_part(const std::vector<Candidate>& group,
                              std::span<const std::int64_t> starts, std::int64_t begin,
                              std::int64_t length) {
  std::vector<Cut> cuts;
  const std::int64_t end = checked_add(begin, length);
  const auto first = std::ranges::upper_bound(starts, begin);
  std::size_t i =
      first == starts.begin() ? 0 : static_cast<std::size_t>(first - starts.begin()) - 1;
  for (; i < group.size() && starts[i] < end; ++i) {
    const std::int64_t from = std::max(begin, starts[i]);
    const std::int64_t to = std::min(end, checked_add(starts[i], element_count(group[i].shape)));
    if (from < to) cuts.push_back({i, from - begin, from - starts[i], to - from});
  }
  return cuts;
}

std::vector<Cut> cuts_alone(const std::vector<Candidate>& parameters, std::int64_t index,
                            std::int64_t count, std::int64_t& length) {
  std::vector<Cut> cuts;
  length = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t all = element_count(parameters[i].shape);
    const std::int64_t part = ceil_div(all, count);
    const std::int64_t begin = checked_mul(index, part);
    if (begin < all) cuts.push_back({i, length, begin, std::min(part, all - begin)});
    length = checked_add(length, part);
  }
  return cuts;
}

}  // namespace ttcheck::formats
