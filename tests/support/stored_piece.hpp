// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pieces of tensors whose bytes lie in memory.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/model/piece.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::tests {

/// What a rank holds of `box`, or of all, in row-major order; its bytes are kept by `sources`.
inline Piece stored_piece(std::deque<ArraySource>& sources, std::int32_t rank, DType dtype,
                          const std::vector<double>& values, const std::optional<Box>& box = {}) {
  Piece made;
  made.source = &sources.emplace_back(stored_values(dtype, values));
  made.dtype = dtype;
  made.rank = rank;
  if (box) made.cells = {Cell{*box, 0, row_major_strides(box->size)}};
  return made;
}

}  // namespace ttcheck::tests
