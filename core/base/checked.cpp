// SPDX-License-Identifier: Apache-2.0
#include "core/base/checked.hpp"

#include <fmt/format.h>

namespace ttcheck {

void throw_overflow(const char* message) { throw Error(message); }

std::int64_t checked_product(std::span<const std::int64_t> factors) {
  std::int64_t product = 1;
  bool zero = false;
  bool overflow = false;
  for (const std::int64_t factor : factors) {
    if (factor < 0) throw Error(fmt::format("negative extent {}", factor));
    zero |= factor == 0;
    overflow |= __builtin_mul_overflow(product, factor, &product);
  }
  if (zero) return 0;
  if (overflow) throw_overflow("product overflows");
  return product;
}

}  // namespace ttcheck
