#pragma once
// The first bad op of a step of two traces.

#include "cli/bisect_steps.hpp"

namespace ttcheck::cli {

/// Step by step until one has a bad op; what a diff of it says, of the records that were looked at.
/// The others are excluded by the rule `bisect`. Throws Error, also where a run is no trace.
Verdict bisect_ops(const BisectInput& input);

}  // namespace ttcheck::cli
