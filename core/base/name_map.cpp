// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_map.hpp"

#include <xxhash.h>

#include "core/base/index_table.hpp"

namespace ttcheck {

std::size_t NameHash::operator()(std::string_view name) const noexcept {
  return XXH3_64bits_withSeed(name.data(), name.size(), hash_key());
}

}  // namespace ttcheck
