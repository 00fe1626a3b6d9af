// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that have the same part in other layers, experts or blocks.

#include <string>
#include <string_view>

namespace ttcheck::limits {

/// `layers.#.mlp.experts.#.weight` of `layers.7.mlp.experts.64.weight`: siblings share it.
std::string siblings_of(std::string_view name);

/// Whether it is a bias, or an optimizer's state of one.
bool is_of_bias(std::string_view name);

}  // namespace ttcheck::limits
