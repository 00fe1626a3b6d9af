// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a projection puts out, as the op on its weight's rows says: a row of the weight is a place
// along the last dim.

#include <optional>
#include <span>

#include "core/align/map_op.hpp"

namespace ttcheck::align {

/// map_of_whole of the last dim; all dims before it are the same on both sides.
std::optional<BoxMap> features_of_whole(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                        std::size_t parts, std::span<const Shape> known = {});

/// What features_of_whole gives where the shapes of all parts are known; nothing when the op does
/// not make that whole of them.
std::optional<BoxMap> features_of_parts(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                        std::span<const Shape> parts);

}  // namespace ttcheck::align
