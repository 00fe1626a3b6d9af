#include "core/base/checked.hpp"

#include <fmt/format.h>

namespace ttcheck {

std::int64_t checked_product(std::span<const std::int64_t> factors) {
  std::int64_t product = 1;
  bool zero = false;
  for (const std::int64_t factor : factors) {
    if (factor < 0) throw Error(fmt::format("negative extent {}", factor));
    if (factor == 0) zero = true;
  }
  if (zero) return 0;
  for (const std::int64_t factor : factors) product = checked_mul(product, factor);
  return product;
}

}  // namespace ttcheck
