#include "core/explain/precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 3;
constexpr double kRoundings = 16;  ///< units of the grid that the error may come to
constexpr int kFraction = 52;
constexpr int kMargin = 3;               ///< bits that the reference has beyond the grid
constexpr std::int64_t kLeastCount = 8;  ///< fewer may lie on a grid by chance

struct Grid {
  std::string_view name;
  int fraction;  ///< bits
};
constexpr std::array kGrids = {Grid{"bf16", 7}, Grid{"f16", 10}};

}  // namespace

std::optional<Explanation> precision(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const int own = info(subject.pair.candidate->dtype).mantissa_bits;
  if (metrics.count < kLeastCount || metrics.non_finite_disagree > 0) return std::nullopt;
  for (const Grid& grid : kGrids) {
    if (own < grid.fraction + kMargin || seen.candidate_grain < kFraction - grid.fraction) continue;
    if (seen.reference_grain > kFraction - grid.fraction - kMargin) return std::nullopt;
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
