// SPDX-License-Identifier: Apache-2.0
#pragma once
// How one model's numbers follow from another's where both hold the same parameter in another form:
// a norm's weight kept as its distance from one, an embedding kept multiplied.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/dtype.hpp"

namespace ttcheck {

/// value * factor / divisor + addend, in double.
struct ValueMap {
  double factor = 1, divisor = 1, addend = 0;

  bool operator==(const ValueMap&) const = default;
};

/// Replaces `count` stored elements (little-endian, packed from bit 0) by what the map makes of
/// them, rounded to nearest even; of complex numbers the addend goes to the real part alone.
/// REQUIRES !is_exact(dtype).
void apply(const ValueMap& map, DType dtype, std::int64_t count, std::span<std::byte> elements);

}  // namespace ttcheck
