// SPDX-License-Identifier: Apache-2.0
#include "core/model/turned_bit.hpp"

#include <cmath>

#include "core/base/require.hpp"
#include "core/model/decode.hpp"

namespace ttcheck {

TurnedBit turned_bit(DType dtype, double stored, double wanted) {
  require(!is_complex(dtype), "a real dtype");
  return turned_bit_of(dtype, code_of(dtype, stored), wanted);
}

TurnedBit turned_bit_of(DType dtype, std::uint64_t code, double wanted) {
  require(!is_complex(dtype), "a real dtype");
  TurnedBit best;
  for (int bit = 0; bit < bits(dtype); ++bit) {
    const double value = value_of(dtype, code ^ (std::uint64_t{1} << bit));
    const double left = std::fabs(value - wanted);
    if (!std::isfinite(left)) continue;
    if (best.bit < 0 || left < best.left) best = {bit, left};
  }
  return best;
}

}  // namespace ttcheck
