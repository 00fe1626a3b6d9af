// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of one run, read and put together.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "core/model/run.hpp"

namespace ttcheck::diff {

struct OpenedStep {
  State state;                     ///< as it was read; what assembling leaves of it
  std::vector<Fact> facts;         ///< of the run, then of the step
  std::vector<Finding> findings;   ///< of reading, then of putting together
  std::vector<NamedState> named;   ///< what lies beside it
  std::vector<StatedStep> stated;  ///< that it says it is of
  assemble::Assembly assembly;
  bool defined_order = false;                    ///< its tensors stand as the model was defined
  std::uint64_t bytes_unclaimed = 0, bytes = 0;  ///< of the input; of the tensors
  std::int64_t unreadable = 0;                   ///< arrays and tensors
};

/// Its records are still each rank's own. Throws Error when the step cannot be read at all.
OpenedStep read_step(const Run& run, std::size_t index);

/// Puts ranks' records together. Throws Error.
void put_together(const Run& run, OpenedStep& step);

/// Both, with a note of what lies beside the step: what commands on a single run start from.
OpenedStep open_step(const Run& run, std::size_t index);

}  // namespace ttcheck::diff
