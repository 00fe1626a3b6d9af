// SPDX-License-Identifier: Apache-2.0
#include "core/model/axes.hpp"

#include <set>

namespace ttcheck {

AxisCoordinates axes_of(std::span<const std::int32_t> ranks, const Mesh& mesh) {
  if (ranks.empty()) return {};
  for (const std::int32_t rank : ranks) {
    if (rank < 0 || rank >= mesh.world_size()) return {};
  }
  AxisCoordinates all;
  std::size_t product = 1;
  for (const Axis& axis : mesh.axes) {
    std::set<std::int64_t> values;
    for (const std::int32_t rank : ranks) {
      values.insert(coordinate(mesh.coordinates(rank), axis.name));
    }
    product *= values.size();
    all.emplace_back(axis.name, std::vector<std::int64_t>(values.begin(), values.end()));
  }
  if (product != ranks.size()) return {};
  std::erase_if(all, [&](const auto& entry) {
    return static_cast<std::int64_t>(entry.second.size()) == mesh.size_of(entry.first);
  });
  return all;
}

}  // namespace ttcheck
