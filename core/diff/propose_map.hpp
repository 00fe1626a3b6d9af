// SPDX-License-Identifier: Apache-2.0
#pragma once
// A map for names that do not meet, to paste into --map FILE.

#include <cstddef>
#include <optional>

#include "core/diff/aligned.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::diff {

struct ProposedMap {
  Finding finding;        ///< TT304 as a note: the names that nothing makes meet, and a map of them
  std::size_t pairs = 0;  ///< that it makes; 0: none is proposed
  bool renumbers = false;  ///< some are of other layers

  /// Whether it gives each of the smaller side's names a partner, of the same layer.
  bool is_whole(const Aligned& aligned) const;
};

/// A map of those of which one partner alone can be meant. Nothing where no two of them are of one
/// shape.
std::optional<ProposedMap> propose_map(const Aligned& aligned);

}  // namespace ttcheck::diff
