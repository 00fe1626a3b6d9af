#include "core/limits/context.hpp"

#include <charconv>
#include <string_view>

namespace ttcheck::limits {
namespace {

constexpr std::string_view kEncoder = "encoder", kDecoder = "decoder";
constexpr std::int64_t kMostLayers = 1000;  ///< a larger number counts something else

/// Layer number + 1 of the module `layers.7.mlp.experts.64`: of the part behind one that names
/// layers; 0 without one.
std::int64_t layers_up_to(std::string_view name) {
  std::int64_t most = 0;
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

void widen(DType& coarsest, DType dtype) {
  if (dtype == coarsest || is_exact(dtype)) return;
  if (epsilon(dtype) > epsilon(coarsest)) coarsest = dtype;
}

}  // namespace

void observe(LimitContext& context, const Tensor& tensor) {
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

void join(LimitContext& context, const LimitContext& part) {
  widen(context.coarsest, part.coarsest);
  context.depth = std::max(context.depth, part.depth);
  context.encoder = std::max(context.encoder, part.encoder);
  context.decoder = std::max(context.decoder, part.decoder);
  context.matrix = std::max(context.matrix, part.matrix);
  context.flat = std::max(context.flat, part.flat);
}

}  // namespace ttcheck::limits
