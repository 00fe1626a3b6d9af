// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/local_loss.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::assemble {
namespace {

/// The axes along which a loss is a mean.
std::vector<std::string> mean_axes(const Tensor& loss) {
  std::vector<std::string> axes;
  if (!loss.placement) return axes;
  for (const auto& [axis, how] : loss.placement->partial) {
    if (how == Reduce::avg) axes.push_back(axis);
  }
  return axes;
}

bool is_cut_along(const Tensor& tensor, const std::string& axis) {
  return std::ranges::any_of(tensor.placement->dims, [&](const DimSpec& dim) {
    return std::ranges::any_of(dim.shards,
                               [&](const ShardSpec& shard) { return shard.axis == axis; });
  });
}

bool is_gradient_of_output(const Tensor& tensor) {
  return tensor.identity.phase == Phase::backward && tensor.placement &&
         tensor.reduce == Reduce::none && tensor.stored && !tensor.undeclared &&
         (tensor.kind == Kind::grad_output || tensor.kind == Kind::grad_input);
}

/// Its pieces as the one addend of a mean of so many.
void divide(Tensor& tensor, std::int64_t count) {
  tensor.reduce = Reduce::avg;
  tensor.mean_of = count;
  tensor.terms.push_back(std::exchange(tensor.pieces, {}));
  tensor.term_replicas.push_back(std::exchange(tensor.replicas, {}));
}

}  // namespace

void set_gradients_of_step(std::span<Tensor> tensors) {
  std::optional<std::pair<std::vector<std::string>, std::int64_t>> stated;
  for (const Tensor& loss : tensors) {
    if (loss.identity.phase != Phase::loss || loss.kind != Kind::loss) continue;
    const std::pair own(mean_axes(loss), loss.mean_of);
    if (stated && *stated != own) return;
    stated = own;
  }
  if (!stated || stated->second <= 1) return;
  const auto& [axes, count] = *stated;
  for (Tensor& tensor : tensors) {
    if (!is_gradient_of_output(tensor)) continue;
    const auto is_cut = [&](const std::string& axis) { return is_cut_along(tensor, axis); };
    if (std::ranges::all_of(axes, is_cut)) divide(tensor, count);
  }
}

}  // namespace ttcheck::assemble
