// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/stated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ttcheck::recompute {

std::string stated_otherwise(const TraceRecord& reference, const TraceRecord& candidate) {
  for (const auto& [key, text] : reference.attrs) {
    const auto other =
        std::ranges::find(candidate.attrs, key, &std::pair<std::string, std::string>::first);
    if (other == candidate.attrs.end() || other->second == text) continue;
    return fmt::format("{} {}, the reference {}", key, other->second, text);
  }
  return "";
}

}  // namespace ttcheck::recompute
