// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/ops.hpp"

#include <algorithm>
#include <iterator>

namespace ttcheck::recompute {
namespace {

constexpr Op kOpRows[] = {
    {"linear", 1, linear_forward, linear_backward},
    {"embedding", 1, embedding_forward, embedding_backward, true},
    {"rmsnorm", 2, rmsnorm_forward, rmsnorm_backward, true},
    {"layernorm", 2, layernorm_forward, layernorm_backward},
    {"add", 1, add_forward, add_backward},
    {"mul", 1, mul_forward, mul_backward, true},
    {"sub", 1, sub_forward, sub_backward},
    {"div", 1, pairwise_forward, pairwise_backward, true},
    {"pow", 2, pairwise_forward, pairwise_backward},
    {"matmul", 1, matmul_forward, matmul_backward},
    {"silu", 1, curve_forward, curve_backward, true},
    {"gelu", 2, curve_forward, curve_backward},
    {"activation", 2, curve_forward, curve_backward},
    {"relu", 1, curve_forward, curve_backward, true},
    {"sigmoid", 1, curve_forward, curve_backward, true},
    {"tanh", 2, curve_forward, curve_backward},
    {"exp", 1, curve_forward, curve_backward, true},
    {"square", 1, curve_forward, curve_backward, true},
    {"sqrt", 1, curve_forward, curve_backward, true},
    {"rsqrt", 1, curve_forward, curve_backward, true},
    {"neg", 1, curve_forward, curve_backward, true},
    {"swiglu", 2, swiglu_forward, swiglu_backward, true},
    {"softmax", 2, softmax_forward, softmax_backward},
    {"cross_entropy", 2, cross_entropy_forward, cross_entropy_backward},
    {"rope", 2, rope_forward, rope_backward},
    {"addcmul", 2, update_forward, update_backward},
    {"addcdiv", 2, update_forward, update_backward},
    {"lerp", 2, update_forward, update_backward},
    {"split", 1, split_forward, split_backward, true},
    {"attention", 4, attention_forward, attention_backward},
};

}  // namespace

const Op* find_op(std::string_view name) {
  const auto* const found = std::ranges::find(kOpRows, name, &Op::name);
  return found == std::end(kOpRows) ? nullptr : found;
}

}  // namespace ttcheck::recompute
