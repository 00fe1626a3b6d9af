#include "core/limits/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

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

/// Layer number + 1 of `layers.7.mlp`: the largest integer part of the name; 0 without one.
std::int64_t layers_up_to(std::string_view name) {
  std::int64_t most = 0;
  std::int64_t number = -1;  // -1: this part is no number
  bool fresh = true;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool end = i == name.size() || name[i] == '.' || name[i] == '/';
    if (end) {
      most = std::max(most, number + 1);
      number = -1;
      fresh = true;
    } else if (name[i] >= '0' && name[i] <= '9' && (fresh || number >= 0) && number < 100000) {
      number = std::max<std::int64_t>(number, 0) * 10 + (name[i] - '0');
      fresh = false;
    } else {
      number = -1;
      fresh = false;
    }
  }
  return most;
}

double grain_of(const Tensor& tensor) { return tensor.trace ? tensor.trace->grain : 0; }

/// Numbers that were kept as text may be half a unit of their last digit off, on each side.
void widen_to_print(Limit& limit, double grain) {
  if (grain <= 0) return;
  limit.rel += grain;
  limit.row += grain;
  limit.outlier += grain;
  limit.source += fmt::format(" + {:.0e} of print", grain);
}

void widen(DType& coarsest, DType dtype) {
  if (dtype == coarsest || is_exact(dtype)) return;
  if (epsilon(dtype) > epsilon(coarsest)) coarsest = dtype;
}

}  // namespace

void observe(Context& context, const Tensor& tensor) {
  widen(context.coarsest, tensor.dtype);
  const std::string_view name = tensor.identity.name;
  const std::size_t layer = name.find("layer");
  if (layer != std::string_view::npos || name.find("block") != std::string_view::npos ||
      name.starts_with("h.")) {
    context.depth = std::max(context.depth, layers_up_to(name.substr(0, name.find('/'))));
  }
  for (const std::int64_t extent : tensor.shape) context.length = std::max(context.length, extent);
}

void join(Context& context, const Context& part) {
  widen(context.coarsest, part.coarsest);
  context.depth = std::max(context.depth, part.depth);
  context.length = std::max(context.length, part.length);
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

Limit limit_for(const Tensor& reference, const Tensor& candidate, const Context& context,
                const LimitOptions& options) {
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
  if (options.mode == LimitOptions::Mode::automatic && !context.trace) {
    if (context.copies) {
      exact.kind = LimitKind::copy;
      exact.source = "copy: at least half of the tensors are equal, so the rest must be";
      return exact;
    }
    if (context.nothing_to_count) {
      exact.source = "exact: no tensor to judge by";
      return exact;
    }
  }
  const LimitEntry* entry = options.file ? options.file->entry_for(reference.identity) : nullptr;
  if (options.file && entry == nullptr) entry = options.file->entry_for(candidate.identity);
  Limit limit = entry == nullptr
                    ? model_limit(reference, context)
                    : measured_limit(*options.file, *entry, reference, context.coarsest);
  widen_to_print(limit, (grain_of(reference) + grain_of(candidate)) / 2);
  return limit;
}

}  // namespace ttcheck::limits
