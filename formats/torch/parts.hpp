// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that are no plain array, as what they are stored as: the arrays of a sparse, nested or
// quantised tensor, and the numbers beside them (torch/_utils.py: _rebuild_sparse_tensor,
// _rebuild_nested_tensor, _rebuild_qtensor, _rebuild_meta_tensor_no_storage). Nothing is made dense
// or dequantised.

#include <optional>
#include <vector>

#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

struct StoredParts {
  std::vector<Leaf> arrays;    ///< tensors, under `<path>@values` and the like
  std::optional<Leaf> stored;  ///< a quantised tensor itself, for its integers
  std::vector<Leaf> facts;     ///< `<path>@scale`, `@layout`, `@size`...
};

/// None for a plain tensor, or one whose parts are not known.
std::optional<StoredParts> stored_parts(const Leaf& leaf);

}  // namespace ttcheck::formats
