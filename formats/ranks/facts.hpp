// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts that each rank's file states, as one list of the run.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/fact.hpp"

namespace ttcheck::formats {

/// Fact of a file that was written under another name than it has: that name, without extension.
inline constexpr std::string_view kSavedAs = "saved_as";

/// A fact that ranks share is kept once; those that differ from the first rank's carry the rank.
class RankFacts {
 public:
  /// Adds what `rank` states to `all`, the same list at every call.
  void take(const std::vector<Fact>& facts, std::int32_t rank, std::vector<Fact>& all);

 private:
  NameMap<std::size_t> places_;  ///< in the list, by name
};

}  // namespace ttcheck::formats
