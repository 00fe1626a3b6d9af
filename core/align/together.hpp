// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several names of parts between dots and slashes as one: what they have in common, and where they
// differ.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/require.hpp"

namespace ttcheck::align {

/// How much names have in common before and after the parts in which they differ.
struct Common {
  std::size_t front = 0, back = 0;

  /// `q` of `layers.3.q.weight`. REQUIRES one of the names.
  std::string_view differing(std::string_view name) const {
    require(name.size() >= front + back, "one of the names");
    return name.substr(front, name.size() - back - front);
  }
};

/// REQUIRES at least one name.
Common common_of(std::span<const std::string> names);

/// `a.{q,k,v}.weight`; of more than eight names the first ones and the last.
std::string together(std::span<const std::string> names);

}  // namespace ttcheck::align
