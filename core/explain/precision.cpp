#include "core/explain/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/compare/grid.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 3;
constexpr double kRoundings = 16;  ///< units of the grid that the error may come to
constexpr int kFraction = 52;

}  // namespace

std::optional<Explanation> precision(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const int own = info(subject.pair.candidate->dtype).mantissa_bits;
  if (metrics.count < compare::kGridLeast || metrics.non_finite_disagree > 0) return std::nullopt;
  for (const compare::Grid& grid : compare::kGrids) {
    if (own < grid.fraction + compare::kGridMargin ||
        seen.candidate_grain < kFraction - grid.fraction)
      continue;
    if (seen.reference_grain > kFraction - grid.fraction - compare::kGridMargin)
      return std::nullopt;
    const double unit = std::ldexp(1.0, -grid.fraction);
    const double rel = metrics.rel();
    if (!(rel <= kRoundings * unit)) return std::nullopt;
    Explanation found;
    found.code = Code::precision;
    found.hypothesis = {"cast",
                        {{"from", std::string(name(subject.pair.candidate->dtype))},
                         {"to", std::string(grid.name)}},
                        std::max(0.0, rel - kRoundings * unit),
                        0};
    found.penalty = kPenalty;
    found.words = fmt::format(
        "all of the candidate's values are numbers of {}, stored as {}; not so the reference's",
        grid.name, name(subject.pair.candidate->dtype));
    return found;
  }
  return std::nullopt;
}

}  // namespace ttcheck::explain
