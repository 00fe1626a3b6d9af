#pragma once
// One step of one run, read and put together: what commands on a single run start from.

#include <cstddef>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "core/model/run.hpp"

namespace ttcheck::cli {

struct OpenedStep {
  State state;  ///< findings and counts, with those of the assembly; its records are used up
  std::vector<Fact> facts;  ///< of the run, then of the step
  assemble::Assembly assembly;
};

/// Throws Error when the step cannot be read at all.
OpenedStep open_step(const Run& run, std::size_t index);

}  // namespace ttcheck::cli
