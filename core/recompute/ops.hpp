// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ops that can be recomputed: one row each.

#include <string_view>

#include "core/recompute/formula.hpp"

namespace ttcheck::recompute {

struct Op {
  std::string_view name;  ///< as `op` of trace records has it
  double roundings;       ///< how often values may be rounded to the stored dtype on their way
  Formulas (*forward)(const Call& call, const Target& target);   ///< of an output
  Formulas (*backward)(const Call& call, const Target& target);  ///< of a gradient
  /// Its output adds nothing up that may cancel: rounding leaves each element right to its own
  /// size.
  bool by_size = false;
};

/// The row of that name, or null.
const Op* find_op(std::string_view name);

Formulas linear_forward(const Call& call, const Target& target);
Formulas linear_backward(const Call& call, const Target& target);
Formulas split_forward(const Call& call, const Target& target);
Formulas split_backward(const Call& call, const Target& target);
Formulas rmsnorm_forward(const Call& call, const Target& target);
Formulas rmsnorm_backward(const Call& call, const Target& target);
Formulas layernorm_forward(const Call& call, const Target& target);
Formulas layernorm_backward(const Call& call, const Target& target);
Formulas embedding_forward(const Call& call, const Target& target);
Formulas embedding_backward(const Call& call, const Target& target);
Formulas add_forward(const Call& call, const Target& target);
Formulas add_backward(const Call& call, const Target& target);
Formulas mul_forward(const Call& call, const Target& target);
Formulas mul_backward(const Call& call, const Target& target);
Formulas sub_forward(const Call& call, const Target& target);
Formulas sub_backward(const Call& call, const Target& target);
Formulas pairwise_forward(const Call& call, const Target& target);
Formulas pairwise_backward(const Call& call, const Target& target);
Formulas update_forward(const Call& call, const Target& target);
Formulas update_backward(const Call& call, const Target& target);
Formulas curve_forward(const Call& call, const Target& target);
Formulas curve_backward(const Call& call, const Target& target);
Formulas matmul_forward(const Call& call, const Target& target);
Formulas matmul_backward(const Call& call, const Target& target);
Formulas swiglu_forward(const Call& call, const Target& target);
Formulas swiglu_backward(const Call& call, const Target& target);
Formulas softmax_forward(const Call& call, const Target& target);
Formulas softmax_backward(const Call& call, const Target& target);
Formulas cross_entropy_forward(const Call& call, const Target& target);
Formulas cross_entropy_backward(const Call& call, const Target& target);
Formulas rope_forward(const Call& call, const Target& target);
Formulas rope_backward(const Call& call, const Target& target);
Formulas attention_forward(const Call& call, const Target& target);
Formulas attention_backward(const Call& call, const Target& target);

}  // namespace ttcheck::recompute
