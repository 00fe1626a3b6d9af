// SPDX-License-Identifier: Apache-2.0
#include "core/align/expert_stacks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace ttcheck::align {
namespace {

constexpr std::string_view kWide = ".mlp.experts.gate_up_proj";
constexpr std::string_view kDown = ".mlp.experts.down_proj";
constexpr std::string_view kBias = ".mlp.experts.gate_up_proj_bias";

/// What is around the projection in a stack's name: `model.layers.0`, `@exp_avg`. Empty: no stack.
std::string around(std::string_view name, std::string_view projection) {
  const std::size_t at = name.find(projection);
  if (at == std::string_view::npos) return {};
  std::string_view rest = name.substr(at + projection.size());
  if (rest.starts_with(".weight")) rest.remove_prefix(7);
  if (!rest.empty() && rest.front() != '@') return {};
  return std::string(name.substr(0, at)) + "\n" + std::string(rest);
}

/// None for shapes that are not of one layer.
std::optional<bool> transposed(const Shape& wide, const Shape& down) {
  if (wide.size() != 3 || down.size() != 3 || wide[0] != down[0]) return std::nullopt;
  const auto doubled = [](std::int64_t two, std::int64_t one) {
    return two > 0 && two % 2 == 0 && two / 2 == one;
  };
  if (wide[2] == down[1] && doubled(wide[1], down[2])) return false;
  if (wide[1] == down[2] && doubled(wide[2], down[1])) return true;
  return std::nullopt;
}

/// Whether all layers of a side tell that experts are transposed; none where two tell otherwise.
std::optional<bool> told_by(std::span<const Tensor> tensors) {
  std::map<std::string, const Shape*> wide;
  for (const Tensor& tensor : tensors) {
    std::string place = around(tensor.identity.name, kWide);
    if (!place.empty()) wide.emplace(std::move(place), &tensor.shape);
  }
  if (wide.empty()) return std::nullopt;
  std::optional<bool> told;
  for (const Tensor& tensor : tensors) {
    const auto beside = wide.find(around(tensor.identity.name, kDown));
    if (beside == wide.end()) continue;
    const auto way = transposed(*beside->second, tensor.shape);
    if (way && told && *way != *told) return std::nullopt;
    if (way) told = way;
  }
  return told;
}

bool has_biases(std::span<const Tensor> tensors) {
  return std::ranges::any_of(
      tensors, [](const Tensor& tensor) { return tensor.identity.name.ends_with(kBias); });
}

}  // namespace

ExpertStacks::ExpertStacks(std::span<const Tensor> tensors, std::span<const Tensor> other)
    : transposed_(told_by(tensors)), biased_(has_biases(tensors) || has_biases(other)) {
  if (!transposed_) transposed_ = told_by(other);
}

bool ExpertStacks::turned_against(const ExpertStacks& other, const Tensor& tensor) const {
  if (!transposed_ || !other.transposed_ || *transposed_ == *other.transposed_) return false;
  const std::string& name = tensor.identity.name;
  return !around(name, kWide).empty() || !around(name, kDown).empty();
}

bool ExpertStacks::unclear(const Tensor& tensor) const {
  if (transposed_ || biased_ || !has_square_parts(tensor.shape)) return false;
  const std::string& name = tensor.identity.name;
  return !around(name, kWide).empty() || !around(name, kDown).empty();
}

bool has_square_parts(const Shape& stack) { return stack.size() == 3 && stack[1] == stack[2]; }

}  // namespace ttcheck::align
