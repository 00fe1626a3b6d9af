// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which pieces of a tensor hold one of its elements.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::verdict {

/// The first piece of a tensor, of a `reduce` tensor that of the first term that has one; null
/// where there is none.
const Piece* first_piece(const Tensor& tensor);

/// The piece that gives the element its value (of `reduce` tensors: the lowest rank's term); the
/// first piece where the index is -1, or none holds it.
const Piece* piece_at(const Tensor& tensor, std::int64_t linear_index);

/// The place where the piece of piece_at stores the element itself, as near as its encoding allows;
/// of index -1 where the piece begins.
std::optional<Where> place_of(const Tensor& tensor, std::int64_t linear_index);

/// Every rank that has a copy (or a term) of the element, ascending.
std::vector<std::int32_t> holders(const Tensor& tensor, std::int64_t linear_index);

}  // namespace ttcheck::verdict
