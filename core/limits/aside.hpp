// SPDX-License-Identifier: Apache-2.0
#pragma once
// Biases that chance may have moved, whatever the relation of two states is.

#include <span>
#include <vector>

#include "core/limits/stored.hpp"

namespace ttcheck::limits {

/// Tells of each of `states`, in their order, whether it is a bias that chance may have moved. What
/// a bias adds may be seen by nothing behind it (keys in front of a softmax, a convolution in front
/// of a batch norm); an optimizer that steps by signs then moves it along round-off. It is further
/// apart than rounding in several layers, and as many other parts have biases that are not. Where
/// everything else is equal, nothing was trained, and a bias that is not is damage.
std::vector<bool> moved_by_chance(std::span<const Stored> states);

}  // namespace ttcheck::limits
