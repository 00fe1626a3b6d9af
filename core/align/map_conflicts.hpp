// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps of the user that contradict each other.

#include <span>
#include <vector>

#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Throws Error, naming the lines of the map file, when two maps change the values of one tensor:
/// only one of them could be applied, and which would be an accident of their order.
void refuse_conflicts(const std::vector<MapRule>& maps, std::span<const Tensor> reference,
                      std::span<const Tensor> candidate);

}  // namespace ttcheck::align
