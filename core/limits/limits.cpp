// SPDX-License-Identifier: Apache-2.0
#include "core/limits/limits.hpp"

#include <fmt/format.h>

#include "core/base/glob.hpp"
#include "core/limits/model.hpp"

namespace ttcheck::limits {
namespace {

std::optional<double> last_match(const std::vector<ToleranceRule>& rules, const std::string& name) {
  std::optional<double> value;
  for (const ToleranceRule& rule : rules) {
    if (rule.glob.empty() || Glob(rule.glob).matches(name)) value = rule.value;
  }
  return value;
}

double grain_of(const Tensor& tensor) { return tensor.trace ? tensor.trace->grain : 0; }

/// Numbers that were kept as text may be half a unit of their last digit off, on each side.
void widen_to_print(Limit& limit, double grain) {
  if (grain <= 0) return;
  limit.rel += grain;
  limit.row += grain;
  limit.outlier += grain;
  limit.op += grain;
  limit.say(fmt::format(" + {:.0e} of print", grain));
}

}  // namespace

bool tells_states(const LimitOptions& options) {
  using Mode = LimitOptions::Mode;
  const bool measured = options.mode == Mode::file && options.file && options.file->states;
  return options.mode == Mode::automatic || measured;
}

std::optional<Limit> tolerance_for(const LimitOptions& options, const std::string& name) {
  const auto rtol = last_match(options.rtol, name);
  const auto atol = last_match(options.atol, name);
  if (!rtol && !atol) return std::nullopt;
  Limit limit;
  limit.kind = LimitKind::tolerance;
  limit.rel = 1;
  limit.rtol = rtol.value_or(0);
  limit.atol = atol.value_or(0);
  limit.source = fmt::format("--rtol {} --atol {}", limit.rtol, limit.atol);
  return limit;
}

std::optional<Limit> elementwise_limit(const Tensor& reference, const Tensor& candidate,
                                       const LimitOptions& options) {
  if (auto tolerance = tolerance_for(options, reference.identity.name)) return tolerance;
  if (options.mode == LimitOptions::Mode::exact) return std::nullopt;
  std::optional<Limit> limit;
  for (const auto& rounding : {reference.rounding, candidate.rounding}) {
    if (!rounding) continue;
    if (!limit) limit.emplace().kind = LimitKind::tolerance;
    limit->rel = 1;
    limit->rtol += rounding->rtol;
    limit->atol += rounding->atol;
    limit->source += (limit->source.empty() ? "" : ", ") + rounding->source;
  }
  return limit;
}

Limit limit_for(const Tensor& reference, const Tensor& candidate, const LimitContext& context,
                const LimitOptions& options, const Limit* state) {
  Limit exact;
  if (is_exact(reference.dtype) || is_exact(candidate.dtype)) {
    exact.source = "exact: integers and bools";
    return exact;
  }
  if (reference.kind == Kind::step) {
    exact.source = "exact: step counter";
    return exact;
  }
  if (auto limit = elementwise_limit(reference, candidate, options)) return *limit;
  if (options.mode == LimitOptions::Mode::exact) {
    exact.source = "--limits exact";
    return exact;
  }
  const LimitEntry* entry = options.file ? options.file->entry_for(reference.identity) : nullptr;
  if (options.file && entry == nullptr) entry = options.file->entry_for(candidate.identity);
  if (entry == nullptr && options.mode != LimitOptions::Mode::model && state != nullptr) {
    return *state;
  }
  Limit limit = entry == nullptr
                    ? model_limit(reference, context)
                    : measured_limit(*options.file, *entry, reference, context.coarsest);
  limit.op = op_roundoff(context);
  widen_to_print(limit, (grain_of(reference) + grain_of(candidate)) / 2);
  return limit;
}

}  // namespace ttcheck::limits
