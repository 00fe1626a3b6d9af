// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks as mesh coordinates.

#include <cstdint>
#include <span>

#include "core/model/finding.hpp"
#include "core/model/mesh.hpp"

namespace ttcheck {

/// Per axis the coordinates of `ranks`, where `ranks` is their product and not the whole axis.
AxisCoordinates axes_of(std::span<const std::int32_t> ranks, const Mesh& mesh);

}  // namespace ttcheck
