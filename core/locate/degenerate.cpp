// SPDX-License-Identifier: Apache-2.0
#include "core/locate/degenerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/digits.hpp"

namespace ttcheck::locate {
namespace {

constexpr std::int64_t kLeastElements = 8;
constexpr std::int64_t kLeastRecords = 4;

/// `layers.#.mlp/output.0` of `layers.7.mlp/output.0`.
std::string without_numbers(std::string_view name) {
  std::string text;
  const std::size_t slot = std::min(name.find('/'), name.size());
  for (std::size_t begin = 0; begin < slot;) {
    const std::size_t end = std::min(name.find('.', begin), slot);
    const std::string_view part = name.substr(begin, end - begin);
    const bool number = is_number(part);
    text += number ? std::string_view("#") : part;
    text += '.';
    begin = end + 1;
  }
  return text.append(name.substr(slot));
}

bool counts(const TensorResult& one) {
  return one.identity.phase == Phase::forward && one.kind == Kind::output &&
         one.metrics.count >= kLeastElements && one.metrics.taken_out == 0 && !is_exact(one.dtype);
}

using Norm = double Metrics::*;
/// The results by name without numbers, micro-batch and call.
using Groups =
    std::map<std::tuple<std::string, std::int32_t, std::int32_t>, std::vector<std::size_t>>;

std::optional<Precondition> on_side(std::span<const TensorResult> results, const Groups& groups,
                                    Norm norm, std::string_view side) {
  std::int64_t several = 0;
  std::int64_t zero = 0;  // on both sides; an adapter's may all be, those of all modules never
  std::int64_t same = 0;
  std::int64_t records = 0;
  std::optional<std::size_t> first;
  for (const auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    ++several;
    const double one = results[members.front()].metrics.*norm;
    const auto alike = [&](std::size_t i) { return results[i].metrics.*norm == one; };
    if (!std::ranges::all_of(members, alike)) continue;
    const auto empty = [&](std::size_t i) {
      return results[i].metrics.sum_a2 == 0 && results[i].metrics.sum_b2 == 0;
    };
    if (one == 0 && !std::ranges::all_of(members, empty)) continue;
    ++(one == 0 ? zero : same);
    records += static_cast<std::int64_t>(members.size());
    first = std::min(first.value_or(members.front()), members.front());
  }
  const bool blank = zero == several;
  if ((same * 2 <= several && !blank) || records < kLeastRecords) return std::nullopt;
  return Precondition{fmt::format("the {} is a degenerate dump", side), Code::degenerate, *first,
                      fmt::format("{} outputs of its layers hold {}", records,
                                  blank ? "nothing but zeros" : "the same content")};
}

}  // namespace

std::optional<Precondition> degenerate_dump(std::span<const TensorResult> results) {
  Groups groups;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!counts(results[i])) continue;
    const Identity& one = results[i].identity;
    groups[{without_numbers(one.name), one.microbatch, one.call}].push_back(i);
  }
  if (auto failed = on_side(results, groups, &Metrics::sum_a2, "reference")) return failed;
  return on_side(results, groups, &Metrics::sum_b2, "candidate");
}

}  // namespace ttcheck::locate
