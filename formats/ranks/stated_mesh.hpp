// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mesh of ranks that each state where they are: pairs `tp_rank`, `tp_size` for each axis that a
// framework knows (SGLang's and Megatron's parallel info in dumps). Many of those axes are other
// words for one another; a mesh has each once.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/mesh.hpp"

namespace ttcheck::formats {

struct StatedAxis {
  std::int64_t rank = 0, size = 1;
};

/// The place that a rank states, by axis; axes of one rank may be left out.
using StatedPlace = std::map<std::string, StatedAxis, std::less<>>;

struct StatedMesh {
  Mesh mesh;  ///< with the coordinates of all ranks; empty where nothing is stated
  std::vector<std::pair<std::string, std::string>> same;  ///< axis, the mesh's word for it
};

/// The mesh of ranks that state these places, by rank; ranks that state nothing are at 0. `world`:
/// how many ranks there are at least, as stated; the axes' sizes say it too. An axis whose
/// coordinates are another's on every rank is a word for that one; of those left, each that tells
/// ranks apart which the ones before it do not is an axis, slowest first, and the others are
/// `expert_axes`. Throws Error when a coordinate is outside of its axis, ranks disagree on a size,
/// there are more than 32 axes, or many more ranks than places.
StatedMesh mesh_of(const std::map<std::int32_t, StatedPlace>& places, std::int64_t world = 1);

}  // namespace ttcheck::formats
