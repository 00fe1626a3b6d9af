#include "core/limits/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

constexpr std::string_view kEncoder = "encoder", kDecoder = "decoder";
constexpr std::int64_t kMostLayers = 1000;  ///< a larger number counts something else

/// Layer number + 1 of `layers.7.mlp.experts.64`: of the part behind one that names layers; 0
/// without one.
std::int64_t layers_up_to(std::string_view name) {
  std::int64_t most = 0;
  for (std::size_t begin = 0, end = 0; begin < name.size(); begin = end + 1) {
    end = std::min(name.find_first_of("./", begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool layers = part == "h" || part.ends_with("layers") || part.ends_with("layer") ||
                        part.ends_with("blocks") || part.ends_with("block") || part == kEncoder ||
                        part == kDecoder;
    if (!layers || end == name.size()) continue;
    const std::string_view next = name.substr(end + 1);
    std::int64_t number = 0;
    const auto [stop, fault] = std::from_chars(next.data(), next.data() + next.size(), number);
    const bool whole = stop == next.data() + next.size() || *stop == '.' || *stop == '/';
    if (fault == std::errc{} && whole && number >= 0 && number < kMostLayers) {
      most = std::max(most, number + 1);
    }
  }
  return most;
}

bool has_part(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
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
  const std::string_view module = name.substr(0, name.find('/'));
  const std::int64_t layers = layers_up_to(module);
  context.depth = std::max(context.depth, layers);
  if (has_part(module, kEncoder)) context.encoder = std::max(context.encoder, layers);
  if (has_part(module, kDecoder)) context.decoder = std::max(context.decoder, layers);
  std::int64_t& longest = tensor.shape.size() > 1 ? context.matrix : context.flat;
  for (const std::int64_t extent : tensor.shape) longest = std::max(longest, extent);
}

void join(Context& context, const Context& part) {
  widen(context.coarsest, part.coarsest);
  context.depth = std::max(context.depth, part.depth);
  context.encoder = std::max(context.encoder, part.encoder);
  context.decoder = std::max(context.decoder, part.decoder);
  context.matrix = std::max(context.matrix, part.matrix);
  context.flat = std::max(context.flat, part.flat);
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
