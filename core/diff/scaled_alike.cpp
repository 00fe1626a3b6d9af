// SPDX-License-Identifier: Apache-2.0
#include "core/diff/scaled_alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/parallel.hpp"
#include "core/explain/explain.hpp"

namespace ttcheck::diff {
namespace {

/// k of "the candidate is k x the reference".
std::optional<double> factor_in(std::span<const Hypothesis> hypotheses) {
  if (hypotheses.empty() || hypotheses.front().name != "scale") return std::nullopt;
  for (const auto& [key, value] : hypotheses.front().parameters) {
    if (key != "k") continue;
    if (const double* const k = std::get_if<double>(&value)) return *k;
  }
  return std::nullopt;
}

/// The factor of a result by the sums of the first pass, with what rounding may make of it.
struct Factor {
  double k = 1, noise = 0;

  bool is(double other) const {
    constexpr double kNear = 1e-3;  // of how far it is from 1: sums in fp32 are good to that
    return std::fabs(k - other) <= std::max(kNear * std::fabs(other - 1), 2 * noise);
  }
};

std::optional<Factor> factor_of(const MetStep& met, const TensorResult& result,
                                const DiffContext& context) {
  const compare::Pair* const pair = met.compared(result);
  if (pair == nullptr || result.metrics.count == 0) return std::nullopt;
  explain::Subject subject;
  subject.pair = *pair;
  subject.result = &result;
  subject.mesh = &context.candidate.mesh;
  subject.noise = explain::noise_of(result);
  const auto found = explain::explanations(subject, explain::Effort::sums);
  if (found.empty() || found.front().code != Code::scale) return std::nullopt;
  const auto k = factor_in(std::span(&found.front().hypothesis, 1));
  return k ? std::optional(Factor{*k, subject.noise}) : std::nullopt;
}

bool is_compared(const TensorResult& result) {
  return result.outcome() == Outcome::diverged && result.test != Test::replica;
}

std::string alike_words(std::int64_t alike, std::int64_t beyond, std::size_t all) {
  if (alike < beyond)
    return fmt::format("; so are {} more of the {} that differ", alike - 1, beyond);
  const bool every = static_cast<std::size_t>(beyond) == all;
  return fmt::format("; so are all {} {}", beyond, every ? "tensors" : "that differ");
}

}  // namespace

std::int64_t fold_scaled(const MetStep& met, std::span<const TensorResult> results,
                         std::vector<std::size_t>& diverged, std::vector<Finding>& findings,
                         const DiffContext& context) {
  const auto scales = [](const Finding& one) {
    return one.code == Code::scale && factor_in(one.hypotheses).has_value();
  };
  if (met.trace || std::ranges::none_of(findings, scales)) return 0;
  std::vector<std::optional<Factor>> factors(results.size());
  parallel_for(results.size(), [&](std::size_t i) {
    if (is_compared(results[i])) factors[i] = factor_of(met, results[i], context);
  });
  const auto beyond = std::ranges::count_if(results, is_compared);
  std::vector<std::size_t> kept;
  std::vector<double> told;
  std::int64_t several = 0;
  for (std::size_t n = 0; n < findings.size(); ++n) {
    const auto k = scales(findings[n]) ? factor_in(findings[n].hypotheses) : std::nullopt;
    const auto is_k = [&](const std::optional<Factor>& one) { return one && one->is(*k); };
    if (!k || !is_k(factors[diverged[n]])) {
      kept.push_back(n);
      continue;
    }
    const auto& own = factors[diverged[n]];
    if (std::ranges::any_of(told, [&](double other) { return own->is(other); })) continue;
    kept.push_back(n);
    told.push_back(*k);
    const auto alike = std::ranges::count_if(factors, is_k);
    if (alike < 2) continue;
    ++several;
    findings[n].message += alike_words(alike, beyond, met.pairs.size());
  }
  std::vector<Finding> left;
  std::vector<std::size_t> of;
  for (const std::size_t n : kept) {
    left.push_back(std::move(findings[n]));
    of.push_back(diverged[n]);
  }
  findings = std::move(left);
  diverged = std::move(of);
  return several;
}

}  // namespace ttcheck::diff
