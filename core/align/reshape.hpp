// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor with its elements in the same row-major order under another shape.

#include "core/align/box_map.hpp"
#include "core/model/box.hpp"

namespace ttcheck::align {

/// `part` seen as `whole`. REQUIRES equal element counts. Throws Error when the two shapes divide
/// so unevenly that it would take too many boxes.
BoxMap reshaped(const Shape& part, const Shape& whole);

}  // namespace ttcheck::align
