// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records in which a difference that came about once shows from then on: the outputs of blocks,
// one behind the other.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/identity.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::bisect {

/// A record of a trace, as far as the search for the first bad one needs it.
struct RecordPlace {
  const Identity* identity = nullptr;
  Kind kind = Kind::other;
  bool behind = false;  ///< it ran behind the whole backward pass, whatever its phase is called
};

/// Forward, loss or backward of one micro-batch: values flow through it from record to record.
struct Chain {
  std::size_t begin = 0, end = 0;  ///< of the records
  std::vector<std::size_t> ends;   ///< the last output of each block, ascending; not empty
};

/// The chains of one step whose records are in causal order, in that order. A block is what lies
/// below the first number of a module path (`layers.12`), or a module without one. What is `behind`
/// is in none: an optimizer's calls do not pass on what went wrong in the passes.
std::vector<Chain> chains_of(std::span<const RecordPlace> records);

}  // namespace ttcheck::bisect
