// SPDX-License-Identifier: Apache-2.0
#include "core/diff/another_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace ttcheck::diff {
namespace {

constexpr std::int64_t kLeast = 4;  ///< weights: of fewer, one name too many is half of them

struct Partners {
  std::int64_t met = 0, alone = 0;

  std::int64_t all() const { return met + alone; }
};

bool is_weight(const Tensor& tensor) {
  return tensor.kind == Kind::weight && tensor.identity.phase == Phase::none;
}

Partners partners_of(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                     std::span<const align::PairIndex> pairs,
                     std::size_t align::PairIndex::* index) {
  std::set<std::size_t> met;
  for (const align::PairIndex& pair : pairs) {
    if (is_weight(tensors[pair.*index])) met.insert(pair.*index);
  }
  const auto unmet =
      std::ranges::count_if(alone, [&](std::size_t i) { return is_weight(tensors[i]); });
  return {std::ssize(met), unmet};
}

}  // namespace

std::string another_model(const Aligned& aligned, bool renamed) {
  const align::Alignment& done = aligned.alignment;
  const bool open = !done.unknown.empty() || !done.unclear.empty() || aligned.reference_partial ||
                    aligned.candidate_partial;
  if (aligned.trace || open || done.only_reference.empty() || done.only_candidate.empty())
    return "";
  const Partners left =
      partners_of(aligned.reference, done.only_reference, done.pairs, &align::PairIndex::reference);
  const Partners right =
      partners_of(aligned.candidate, done.only_candidate, done.pairs, &align::PairIndex::candidate);
  const Partners& fewer = right.all() < left.all() ? right : left;
  if (fewer.all() < kLeast || fewer.met == 0 || 2 * fewer.alone < fewer.all()) return "";
  return fmt::format("{}: {} of {} names have no partner",
                     renamed ? "other names" : "another model", fewer.alone, fewer.all());
}

}  // namespace ttcheck::diff
