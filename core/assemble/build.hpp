// SPDX-License-Identifier: Apache-2.0
#pragma once
// One group of records -> one logical tensor.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/assemble/plan.hpp"
#include "core/model/finding.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::assemble {

/// A tensor put together, or why it could not be.
struct Built {
  std::optional<Tensor> tensor;
  std::vector<Finding> findings;
  Shape least;  ///< what is there of the tensor's shape where that is a guess; else empty
  /// Ranks without a file whose absence explains all holes; then the holes are not in `findings`.
  std::vector<std::int32_t> explained_by;
};

/// Puts records of one identity together; empties them. `missing` are the ranks that hold nothing
/// at all, ascending.
Built build(std::vector<Record*> records, const AssembleContext& context,
            std::span<const std::int32_t> missing);

}  // namespace ttcheck::assemble
