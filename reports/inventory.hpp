// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors of one run, for `info`: a row per tensor, with the steps that have it.

#include <cstdint>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

struct InventoryRow {
  const TensorResult* tensor = nullptr;  ///< the first step's; lives as long as the Verdict
  std::vector<std::int64_t> steps;       ///< empty when the run has no step numbers
};

/// The rows in order of first appearance. A tensor whose dtype or shape changes between steps has
/// several rows.
std::vector<InventoryRow> inventory(const std::vector<TensorResult>& tensors);

}  // namespace ttcheck::reports
