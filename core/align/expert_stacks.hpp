// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which way experts in one tensor lie: upright, [experts, 2f, h] and [experts, h, f], or each
// transposed. Models have both under one name (transformers models/{qwen3_moe,qwen3_vl_moe}/
// modeling_*.py). A tensor whose experts are square does not tell; the projection beside it does.

#include <optional>
#include <span>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

class ExpertStacks {
 public:
  /// Tells how the stacks of one side lie by gate_up_proj and down_proj of each of its layers: f
  /// and h cannot make both of them square. Where its layers do not tell, those of the `other` side
  /// do.
  ExpertStacks(std::span<const Tensor> tensors, std::span<const Tensor> other);

  /// True for a stack that may lie otherwise than one of the same name on a side of `other`.
  bool turned_against(const ExpertStacks& other, const Tensor& tensor) const;

  /// Whether experts are transposed; none where no layer tells, or two tell otherwise.
  std::optional<bool> transposed() const { return transposed_; }

  /// True where a side has biases of experts, as gpt-oss: those lie in their own way.
  bool biased() const { return biased_; }

  /// True for experts whose own shape does not tell, and neither does any other.
  bool unclear(const Tensor& tensor) const;

 private:
  std::optional<bool> transposed_;
  bool biased_ = false;
};

/// True for the shape of a stack of square matrices.
bool has_square_parts(const Shape& stack);

}  // namespace ttcheck::align
