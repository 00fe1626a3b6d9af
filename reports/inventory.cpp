// SPDX-License-Identifier: Apache-2.0
#include "reports/inventory.hpp"

#include <map>
#include <tuple>

namespace ttcheck::reports {

std::vector<InventoryRow> inventory(const std::vector<TensorResult>& tensors) {
  std::vector<InventoryRow> rows;
  std::map<std::tuple<Identity, DType, Shape>, std::size_t> row_of;
  for (const TensorResult& tensor : tensors) {
    const auto [found, added] =
        row_of.try_emplace({tensor.identity, tensor.dtype, tensor.shape}, rows.size());
    if (added) rows.push_back({&tensor, {}});
    if (tensor.step) rows[found->second].steps.push_back(*tensor.step);
  }
  return rows;
}

}  // namespace ttcheck::reports
