#pragma once
// One step of one run, read and put together: what commands on a single run start from.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "core/model/run.hpp"

namespace ttcheck::cli {

struct OpenedStep {
  std::vector<Fact> facts;        ///< of the run, then of the step
  std::vector<Finding> findings;  ///< of reading, then of putting together
  assemble::Assembly assembly;
  std::uint64_t bytes_unclaimed = 0;
  std::int64_t unreadable = 0;  ///< arrays and tensors
  State used;                   ///< what is left of the state: freed with the step, not before
};

/// Throws Error when the step cannot be read at all.
OpenedStep open_step(const Run& run, std::size_t index);

}  // namespace ttcheck::cli
