// SPDX-License-Identifier: Apache-2.0
#include "core/limits/context.hpp"

#include <charconv>
#include <string_view>

namespace ttcheck::limits {
namespace {

constexpr std::string_view kEncoder = "encoder", kDecoder = "decoder";
constexpr std::int64_t kMostLayers = 1000;  ///< a larger number counts something else

/// The numbers of layers in a name.
struct Numbered {
  std::int64_t layers = 0;  ///< the largest number + 1; 0 without one
  std::string_view behind;  ///< the name up to the first number: `model.layers`
  bool nested = false;      ///< there are several numbers
};

/// The numbers behind parts that name layers: 7 in the module `layers.7.mlp.experts.64`.
Numbered numbered(std::string_view name) {
  Numbered found;
  for (std::size_t begin = 0, end = 0; begin < name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool layers = part == "h" || part.ends_with("layers") || part.ends_with("layer") ||
                        part.ends_with("blocks") || part.ends_with("block") || part == kEncoder ||
                        part == kDecoder;
    if (!layers || end == name.size()) continue;
    const std::string_view next = name.substr(end + 1);
    std::int64_t number = 0;
    const auto [stop, fault] = std::from_chars(next.data(), next.data() + next.size(), number);
    const bool whole = stop == next.data() + next.size() || *stop == '.';
    if (fault == std::errc{} && whole && number >= 0 && number < kMostLayers) {
      found.nested = found.layers > 0;
      if (found.layers == 0) found.behind = name.substr(0, end);
      found.layers = std::max(found.layers, number + 1);
    }
  }
  return found;
}

std::string_view module_in(const Tensor& tensor) {
  const std::string_view name = tensor.identity.name;
  return name.substr(0, name.find('/'));
}

bool has_part(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

void widen(DType& coarsest, DType dtype) {
  if (dtype == coarsest || is_exact(dtype)) return;
  if (epsilon(dtype) > epsilon(coarsest)) coarsest = dtype;
}

void observe_store(LimitContext& context, const Tensor& tensor) {
  widen(context.coarsest, tensor.dtype);
  std::int64_t& longest = tensor.shape.size() > 1 ? context.matrix : context.flat;
  for (const std::int64_t extent : tensor.shape) longest = std::max(longest, extent);
}

Numbered observe_name(LimitContext& context, const Tensor& tensor) {
  const std::string_view module = module_in(tensor);
  Numbered found = numbered(module);
  if (found.layers == 0) return found;
  context.depth = std::max(context.depth, found.layers);
  if (has_part(module, kEncoder)) context.encoder = std::max(context.encoder, found.layers);
  if (has_part(module, kDecoder)) context.decoder = std::max(context.decoder, found.layers);
  return found;
}

}  // namespace

void observe(LimitContext& context, const Tensor& tensor) {
  observe_store(context, tensor);
  observe_name(context, tensor);
}

void observe(LimitContext& context, const Tensor& reference, const Tensor& candidate) {
  observe_store(context, reference);
  observe_store(context, candidate);
  const Numbered found = observe_name(context, reference);
  if (candidate.identity.name != reference.identity.name) observe_name(context, candidate);
  if (found.layers == 0) return;
  if (context.stack.empty()) context.stack = found.behind;
  if (found.nested || context.stack != found.behind) context.stacks = true;
}

int passes_of(const Tensor& tensor) {
  const bool gradient = tensor.identity.phase > Phase::loss && !is_parameter(tensor.kind);
  return gradient && !tensor.shape.empty() ? 2 : 1;
}

std::int64_t LimitContext::layers_to(const Tensor& reference) const {
  const bool forth = reference.identity.phase == Phase::forward;
  const bool back = passes_of(reference) == 2;
  const std::int64_t whole = passes_of(reference) * layers();
  if (stacks || stack.empty() || !(forth || back)) return whole;
  const Numbered found = numbered(module_in(reference));
  if (found.layers == 0 || found.behind != stack) return whole;
  return forth ? found.layers : whole - found.layers + 1;
}

void join(LimitContext& context, const LimitContext& part) {
  widen(context.coarsest, part.coarsest);
  context.depth = std::max(context.depth, part.depth);
  context.encoder = std::max(context.encoder, part.encoder);
  context.decoder = std::max(context.decoder, part.decoder);
  context.matrix = std::max(context.matrix, part.matrix);
  context.flat = std::max(context.flat, part.flat);
  const bool other = !context.stack.empty() && !part.stack.empty() && context.stack != part.stack;
  context.stacks = context.stacks || part.stacks || other;
  if (context.stack.empty()) context.stack = part.stack;
}

}  // namespace ttcheck::limits
