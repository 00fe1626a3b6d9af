#include "core/explain/scale.hpp"

#include <algorithm>
#include <cmath>

namespace ttcheck::explain {

// With k = A.B / A.A and A.B = (A.A + B.B - D.D) / 2, |B - kA|^2 = B.B - k^2 A.A.
std::optional<Hypothesis> scale(const Metrics& metrics, double noise) {
  if (metrics.count < 2 || metrics.sum_a2 <= 0 || metrics.sum_b2 <= 0) return std::nullopt;
  if (metrics.non_finite_disagree > 0) return std::nullopt;
  const double dot = (metrics.sum_a2 + metrics.sum_b2 - metrics.sum_d2) / 2;
  const double k = dot / metrics.sum_a2;
  const double left = std::max(0.0, metrics.sum_b2 - k * dot);
  const double residual = std::sqrt(left / metrics.sum_b2);
  if (!std::isfinite(k) || residual > noise || std::abs(k - 1) <= 4 * noise) return std::nullopt;
  Hypothesis hypothesis;
  hypothesis.name = "scale";
  hypothesis.parameters = {{"k", k}};
  hypothesis.residual = residual;
  hypothesis.weight = 1;
  return hypothesis;
}

}  // namespace ttcheck::explain
