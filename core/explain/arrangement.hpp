// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of a rearrangement: which known way to lay out a model's parameters it swaps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/layout.hpp"

namespace ttcheck::explain {

/// What slices were permuted, and where.
struct Rearranged {
  std::vector<std::int64_t> from;  ///< slice i of the candidate is slice from[i] of the reference
  std::string tensor;              ///< its name
  const Numbers* numbers = nullptr;
  std::size_t dim = 0;  ///< that the slices lie along
};

struct Arrangement {
  std::string name;                 ///< "glu-halves", ...; "permutation" for one without a name
  std::vector<std::int64_t> order;  ///< of blocks; empty for too many
  std::int64_t block = 1;           ///< slices of a block
  std::optional<std::int64_t> shift;
};

/// The blocks that moved together, and the first known layout change of what the tensor is (by its
/// name, `heads`, `head_dim`, `experts`) that moves blocks so.
Arrangement arrangement_of(const Rearranged& rearranged);

}  // namespace ttcheck::explain
