#pragma once
// Whether two values differ as a flipped bit makes them.

#include <cstdint>

#include "core/compare/pair.hpp"

namespace ttcheck::compare {

/// Of the element `index` of two f32 tensors as they are stored; false of others, in which units
/// of rounding are bits as well. Throws Error.
bool differs_in_one_bit(const Pair& pair, std::int64_t index);

}  // namespace ttcheck::compare
