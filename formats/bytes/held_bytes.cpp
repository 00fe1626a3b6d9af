// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/held_bytes.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

namespace ttcheck::formats {

void HeldBytes::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), bytes_.size())) throw Error("value ends early", where_);
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
}

}  // namespace ttcheck::formats
