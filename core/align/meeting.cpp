// SPDX-License-Identifier: Apache-2.0
#include "core/align/meeting.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace ttcheck::align {
namespace {

using Op = std::tuple<std::string_view, Phase, std::int32_t, std::int32_t>;

Op op_of(const Tensor& tensor) {
  const Identity& identity = tensor.identity;
  return {module_of(identity), identity.phase, identity.microbatch, identity.call};
}

std::int32_t rank_of(const Tensor& tensor) {
  const auto ranks = ranks_of(tensor);
  return ranks.empty() ? kNoRank : ranks.front();
}

/// A record in its rank's order.
struct Place {
  std::int64_t seq;
  std::size_t tensor;
  std::size_t alone;  ///< place in `alone`, where it is not paired
  bool paired;
};

/// `meets` for the records of one rank, in runs of one op that were not paired.
void judge_rank(std::vector<Place>& places, std::span<const Tensor> tensors,
                std::vector<bool>& meets) {
  std::ranges::stable_sort(places, {}, &Place::seq);
  for (std::size_t begin = 0; begin < places.size();) {
    std::size_t end = begin + 1;
    if (places[begin].paired) {
      begin = end;
      continue;
    }
    const Tensor& first = tensors[places[begin].tensor];
    // Of ops that were paired in their order alone, any number between two that were is one change:
    // ops fused, split or put in.
    const auto goes_on = [&](const Tensor& tensor) {
      return op_of(tensor) == op_of(first) || (is_counted(first) && is_counted(tensor));
    };
    while (end < places.size() && !places[end].paired && goes_on(tensors[places[end].tensor])) {
      ++end;
    }
    const bool before = begin > 0 && places[begin - 1].paired;
    const bool after = end < places.size() && places[end].paired;
    for (; begin < end; ++begin) {
      if (before && after) meets[places[begin].alone] = true;
    }
  }
}

}  // namespace

std::vector<bool> neighbours_meet(std::span<const Tensor> tensors, std::span<const std::size_t> met,
                                  std::span<const std::size_t> alone) {
  std::vector<bool> meets(alone.size(), false);
  if (alone.empty()) return meets;
  std::map<std::int32_t, std::vector<Place>> ranks;
  const auto add = [&](std::size_t i, std::size_t n, bool paired) {
    const Tensor& tensor = tensors[i];
    const std::int64_t seq = tensor.trace ? tensor.trace->seq : tensor.order;
    ranks[rank_of(tensor)].push_back({seq, i, n, paired});
  };
  std::set<Op> paired;
  for (const std::size_t i : met) {
    add(i, 0, true);
    paired.insert(op_of(tensors[i]));
  }
  for (std::size_t n = 0; n < alone.size(); ++n) add(alone[n], n, false);
  for (auto& [rank, places] : ranks) judge_rank(places, tensors, meets);
  for (std::size_t n = 0; n < alone.size(); ++n) {
    if (paired.contains(op_of(tensors[alone[n]]))) meets[n] = true;
  }
  return meets;
}

}  // namespace ttcheck::align
