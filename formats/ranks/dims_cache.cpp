// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/dims_cache.hpp"

#include "core/model/placement.hpp"

namespace ttcheck::formats {

std::shared_ptr<const Placement> DimsCache::parse(std::string_view line) {
  const auto found = parsed_.find(line);
  if (found != parsed_.end()) return found->second;
  auto placement = std::make_shared<const Placement>(parse_dims(line));
  parsed_.emplace(std::string(line), placement);
  return placement;
}

}  // namespace ttcheck::formats
