// SPDX-License-Identifier: Apache-2.0
#include "core/explain/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 1.5, kPenaltySimple = 1.1;
constexpr double kMostSimple = 4096;
constexpr double kNear = 0.1;  // a factor is a size by no more than this, however large the noise

/// A whole number, or one over it.
bool is_simple(double k, double noise) {
  const double size = std::fabs(k) >= 1 ? std::fabs(k) : 1 / std::fabs(k);
  return size <= kMostSimple && std::fabs(size / std::round(size) - 1) <= noise;
}

/// Whether a single number tells its factor: a whole number, or one over it, that it is nearer to
/// than one in a hundred would be by accident.
bool is_told_by_one(double k) {
  constexpr double kAccident = 1.0 / 100;
  const double size = std::fabs(k) >= 1 ? std::fabs(k) : 1 / std::fabs(k);
  const double whole = std::round(size);
  return size <= kMostSimple && (whole > 1 || k < 0) && 2 * std::fabs(size - whole) <= kAccident;
}

/// " = 1/dp", or nothing. Axes of one size cannot be told apart: the first.
std::string axis_of(double k, const Subject& subject) {
  for (const Axis& axis : subject.mesh->axes) {
    if (axis.size < 2) continue;
    const auto size = static_cast<double>(axis.size);
    const double near = std::min(16 * subject.noise, kNear);
    if (std::fabs(k / size - 1) <= near) return " = " + axis.name;
    if (std::fabs(k * size - 1) <= near) return " = 1/" + axis.name;
  }
  return "";
}

/// A counter counts, and is no multiple of another.
bool is_value(const TensorResult& result) {
  return result.kind != Kind::step && !is_exact(result.dtype) && !is_exact(result.candidate_dtype);
}

}  // namespace

// A factor counts where it is further from 1 than the noise or, where the limit is wide, than what
// it leaves unexplained; and than rounding always.
//
// With k = A.B / A.A, |B - kA|^2 = B.B - k A.B; pass 1 has A.B = (A.A + B.B - D.D) / 2. As k - 1 is
// A.D / A.A, it is at most |D| / |A|: what is more was lost in these sums, beside one large value.
std::optional<Explanation> scale(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const bool seen_all = seen.sum_a2 > 0;
  const double a2 = seen_all ? seen.sum_a2 : metrics.sum_a2;
  const double b2 = seen_all ? seen.sum_b2 : metrics.sum_b2;
  const double ab = seen_all ? seen.sum_ab : (a2 + b2 - metrics.sum_d2) / 2;
  if (metrics.count < 1 || !(a2 > 0) || !(b2 > 0) || !std::isfinite(b2)) return std::nullopt;
  if (metrics.non_finite_disagree > 0) return std::nullopt;
  const double k = ab / a2;
  const double residual = std::sqrt(std::max(0.0, b2 - k * ab) / b2);
  const double eps =
      std::max(epsilon(subject.result->dtype), epsilon(subject.result->candidate_dtype));
  const double beside = std::max(eps, std::min(subject.noise, residual));
  if (!std::isfinite(k) || std::fabs(k - 1) <= 4 * beside) return std::nullopt;
  if (std::fabs(k - 1) > 2 * std::sqrt(metrics.sum_d2 / a2)) return std::nullopt;
  const std::string axis = axis_of(k, subject);
  if (metrics.count < 2 && axis.empty() && !(is_value(*subject.result) && is_told_by_one(k))) {
    return std::nullopt;
  }
  Explanation found;
  found.code = Code::scale;
  found.hypothesis = {"scale", {{"k", k}}, residual};
  found.penalty = is_simple(k, subject.noise) ? kPenaltySimple : kPenalty;
  found.words = fmt::format("the candidate is {:.6g} x the reference{}", k, axis);
  return found;
}

}  // namespace ttcheck::explain
