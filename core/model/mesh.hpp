// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device mesh: named axes, slowest first, and the coordinates of each rank.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck {

struct Axis {
  std::string name;  ///< pp vpp dp cp tp sp ep etp edp fsdp, or any other word
  std::int64_t size = 1;

  bool operator==(const Axis&) const = default;
};

using Coordinates = std::map<std::string, std::int64_t, std::less<>>;

struct Mesh {
  std::vector<Axis> axes;  ///< slowest first: rank number = mixed-radix number
  std::vector<Axis>
      expert_axes;  ///< a second order of the same ranks, for expert tensors; may be empty
  std::vector<Coordinates> ranks;  ///< coordinates by rank where they were written down; else empty

  bool operator==(const Mesh&) const = default;

  /// Number of ranks: of `ranks` if listed, else the product of the axes (1 for none). Throws Error
  /// on overflow.
  std::int64_t world_size() const;

  /// Size of an axis; 1 for one the mesh lacks (`sp` then means `tp`).
  std::int64_t size_of(std::string_view axis) const;

  /// Coordinates of a rank: as listed, else mixed-radix, expert axes included.
  /// Throws Error when there is no such rank.
  Coordinates coordinates(std::int64_t rank) const;

  /// The rank at these coordinates (axes left out count as 0), if they are inside the mesh. Of
  /// listed ranks: the first that has them, whatever its other coordinates are.
  std::optional<std::int64_t> rank_at(const Coordinates& at) const;
};

/// The coordinate along `axis`; 0 where it is not listed (`sp` then means `tp`).
std::int64_t coordinate(const Coordinates& at, std::string_view axis);

}  // namespace ttcheck
