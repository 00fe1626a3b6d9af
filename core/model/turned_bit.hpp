// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stored number with one bit turned over.

#include <cstdint>

#include "core/model/dtype.hpp"

namespace ttcheck {

struct TurnedBit {
  int bit = -1;     ///< from the lowest; -1: none gives a finite number
  double left = 0;  ///< |number - wanted| once it is turned back
};

/// The bit of `stored` whose turning brings it nearest to `wanted`. REQUIRES a value of that dtype,
/// which is real.
TurnedBit turned_bit(DType dtype, double stored, double wanted);

/// Gives what turned_bit does, of a value as its stored bits `code`: a NaN keeps the number that it
/// was only in these.
TurnedBit turned_bit_of(DType dtype, std::uint64_t code, double wanted);

}  // namespace ttcheck
