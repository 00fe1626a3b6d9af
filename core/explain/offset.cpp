#include "core/explain/offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 1.5;

/// " = ln(tp)", or nothing.
std::string logarithm_of(double c, const Subject& subject) {
  for (const Axis& axis : subject.mesh->axes) {
    if (axis.size < 2) continue;
    const double log = std::log(static_cast<double>(axis.size));
    if (std::fabs(std::fabs(c) - log) <= 16 * subject.noise * std::max(1.0, log)) {
      return fmt::format("{}ln({})", c < 0 ? "-" : "", axis.name);
    }
  }
  return "";
}

}  // namespace

std::optional<Explanation> offset(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const auto count = static_cast<double>(metrics.count - metrics.taken_out);
  if (count < 1 || metrics.non_finite_disagree > 0 || !(seen.sum_a2 > 0)) return std::nullopt;
  if (!std::isfinite(seen.sum_a2) || !std::isfinite(seen.sum_d2)) return std::nullopt;
  const double c = seen.sum_d / count;
  const std::string log = logarithm_of(c, subject);
  if (count < 3 && log.empty()) return std::nullopt;
  const double left = std::max(0.0, seen.sum_d2 - seen.sum_d * c);
  Explanation found;
  found.code = Code::offset;
  found.hypothesis = {"offset", {{"c", c}}, std::sqrt(left / seen.sum_a2), 0};
  found.penalty = kPenalty;
  found.words =
      fmt::format("the candidate is the reference + {:.6g}{}", c, log.empty() ? "" : " = " + log);
  return found;
}

}  // namespace ttcheck::explain
