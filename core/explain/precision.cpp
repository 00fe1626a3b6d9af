// SPDX-License-Identifier: Apache-2.0
#include "core/explain/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/compare/grid.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 3, kPenaltySum = 4;
constexpr double kRoundings = 16;         // units of the grid that the error may come to
constexpr double kLeastOfSum = 1.0 / 16;  // and comes to, of sums
constexpr int kBitsOfSum = 6;             // that half of the sums have beyond the grid, at most
constexpr int kBits = Grain::kFraction;

/// Whether all of the candidate's values are on the grid.
bool are_on(const compare::Grid& grid, const Survey& seen) {
  return seen.candidate_grain.least() >= kBits - grid.fraction;
}

/// Whether most of them have no more digits than sums of a few numbers on it, of which the smaller
/// ones have finer units; and most of the reference's have more.
bool are_sums(const compare::Grid& grid, const Survey& seen, double units) {
  const int digits = grid.fraction + kBitsOfSum;
  return units >= kLeastOfSum && seen.candidate_grain.middle() >= kBits - digits &&
         seen.reference_grain.middle() <= kBits - digits - compare::kGridMargin;
}

}  // namespace

std::optional<Explanation> precision(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const DType dtype = subject.pair.candidate->dtype;
  if (metrics.count < compare::kGridLeast || metrics.non_finite_disagree > 0) return std::nullopt;
  for (const compare::Grid& grid : compare::kGrids) {
    const int finer = info(dtype).mantissa_bits - grid.fraction;
    if (finer < compare::kGridMargin) continue;
    const double units = metrics.rel() / std::ldexp(1.0, -grid.fraction);
    const bool on = are_on(grid, seen);
    const bool may_be_sums = finer >= kBitsOfSum + compare::kGridMargin;
    if (!on && !(may_be_sums && are_sums(grid, seen, units))) continue;
    if (on && seen.reference_grain.least() > kBits - grid.fraction - compare::kGridMargin) {
      return std::nullopt;
    }
    if (!(units <= kRoundings)) return std::nullopt;
    Explanation found;
    found.code = Code::precision;
    found.hypothesis = {"cast",
                        {{"from", std::string(name(dtype))}, {"to", std::string(grid.name)}}};
    found.penalty = on ? kPenalty : kPenaltySum;
    found.words = fmt::format("{} {}, stored as {}; not so the reference's",
                              on ? "all of the candidate's values are numbers of"
                                 : "most of the candidate's values are sums of a few numbers of",
                              grid.name, name(dtype));
    return found;
  }
  return std::nullopt;
}

}  // namespace ttcheck::explain
