// SPDX-License-Identifier: Apache-2.0
#include "core/locate/gradient_norm.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/model/dtype.hpp"

namespace ttcheck::locate {
namespace {

constexpr double kLeast = 1e-3;   // of the reference's norm, relative
constexpr double kRoundings = 2;  // of its gradients' type, if that is more
constexpr double kCandidate = 4;  // times what the reference's may have

bool is_logged_norm(const TensorResult& result) {
  const std::string_view name = result.identity.name;
  const std::string_view field = name.substr(name.find_last_of("./") + 1);
  return result.identity.phase == Phase::clip && result.metrics.count == 1 && field == "grad_norm";
}

double apart(double logged, double actual) { return std::abs(logged - actual) / actual; }

}  // namespace

std::optional<LoggedNorm> logged_norm(std::span<const TensorResult> results) {
  const auto logged = std::ranges::find_if(results, is_logged_norm);
  if (logged == results.end()) return std::nullopt;
  const Metrics& values = logged->metrics;
  return LoggedNorm{std::sqrt(values.sum_a2), std::sqrt(values.sum_b2),
                    static_cast<std::size_t>(logged - results.begin())};
}

std::optional<GradientNorm> gradient_norm(std::span<const TensorResult> results,
                                          const LoggedNorm& logged) {
  double reference = 0, candidate = 0, eps = 0;
  bool clipped_apart = false;
  for (const TensorResult& result : results) {
    clipped_apart |= result.identity.phase == Phase::clip && result.kind == Kind::main_grad;
    if (result.identity.phase != Phase::sync || result.kind != Kind::main_grad) continue;
    if (element_count(result.shape) == 0) continue;
    const bool copies_differ = result.test == Test::replica;
    if (copies_differ || result.metrics.count == 0) return std::nullopt;
    reference += result.metrics.sum_a2;
    candidate += result.metrics.sum_b2;
    eps = std::max({eps, epsilon(result.dtype), epsilon(result.candidate_dtype)});
  }
  const double limit = std::max(kLeast, kRoundings * eps);
  if (!std::isfinite(candidate) || candidate <= 0) return std::nullopt;
  if (!(apart(logged.reference, std::sqrt(reference)) <= limit)) return std::nullopt;
  GradientNorm norm;
  norm.actual = std::sqrt(candidate);
  if (!clipped_apart && logged.candidate > norm.actual) return std::nullopt;
  norm.error = apart(logged.candidate, norm.actual);
  norm.limit = kCandidate * limit;
  return norm;
}

}  // namespace ttcheck::locate
