// SPDX-License-Identifier: Apache-2.0
#pragma once
// A matrix that the other side stores the other way round: the kernels of Conv1D, Keras and Flax
// against the weights of Linear.

#include <optional>

#include "core/model/finding.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::diff {

/// The finding on two matrices with each other's shape turned round, which are not square: TT301
/// where one is the other transposed, value for value; TT307 with how far that leaves them apart
/// where it is not. Reads both. Nothing for other shapes, and where bytes cannot be read.
std::optional<Finding> turned_finding(const Tensor& reference, const Tensor& candidate,
                                      std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
