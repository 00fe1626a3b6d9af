// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ranks should hold a tensor: along pp, vpp, ep and etp it lives where it lives, along all
// other axes a holder's neighbours hold it, too. Where experts are cut along an axis of their own,
// what tp cuts is of no expert: it lives all along ep and etp.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/mesh.hpp"

namespace ttcheck::assemble {

/// The number of ranks; 0 where the mesh claims more than can be counted.
std::int64_t world_of(const Mesh& mesh);

/// Along pp, vpp, ep and etp absence is fine.
bool lives_where_it_lives(std::string_view axis);

class Stages {
 public:
  /// Lists the ranks of meshes of up to 65536 ranks; larger ones are not listed.
  explicit Stages(const Mesh& mesh);

  /// Ranks that lie on the stage of one of `holders` and are none of them, ascending.
  std::vector<std::int32_t> absent(const std::set<std::int32_t>& holders) const;

  /// Whether `rank` could hold what one of `holders` has a part of: it lies on that one's stage, or
  /// elsewhere only along axes in `sharded`.
  bool beside(std::int32_t rank, const std::set<std::int32_t>& holders,
              const std::set<std::string>& sharded) const;

  /// Coordinates of a rank of the mesh; none for one that is not listed.
  const Coordinates* at(std::int32_t rank) const;

 private:
  bool experts_apart_ = false;                      ///< etp is an axis of its own
  std::vector<Coordinates> at_;                     ///< by rank
  std::vector<std::size_t> stage_;                  ///< by rank
  std::vector<std::vector<std::int32_t>> members_;  ///< by stage
};

}  // namespace ttcheck::assemble
