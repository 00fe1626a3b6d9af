// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one rank, or one coordinate along an axis, holds of a tensor.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::explain {

/// The tensor as that rank has it; what it does not hold is a hole. Nothing where it holds an
/// addend, or too many boxes.
std::optional<Tensor> part_of_rank(const Tensor& tensor, std::int32_t rank);

/// The pieces that ranks at each coordinate along `axis` hold, the lowest rank's of each box; empty
/// unless every coordinate has all boxes of the tensor.
std::vector<std::vector<Piece>> copies_along(const Tensor& tensor, const Mesh& mesh,
                                             std::string_view axis);

}  // namespace ttcheck::explain
