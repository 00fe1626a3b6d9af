// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps of runs: which of them are meant, and which of one run meets which of the other.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ttcheck {

/// `A`, `A..B`, `A..`, `..B`, inclusive; an end left out is open.
struct StepRange {
  std::optional<std::int64_t> first, last;

  /// A run without step numbers is in no range but the open one.
  bool contains(std::optional<std::int64_t> step) const {
    if (!step) return !first && !last;
    return (!first || *first <= *step) && (!last || *step <= *last);
  }
};

struct StepPair {
  std::size_t reference = 0, candidate = 0;  ///< indices into Run::steps
  std::optional<std::int64_t> step;          ///< the number that findings carry
};

}  // namespace ttcheck
