#pragma once
// What one step leaves to the limits of the next, for whoever did not compare the step whole.

#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// limits::Context::apart of the step behind `steps`, as a diff of all steps would know it; 0 where
/// one of the runs is no trace. Reads the weights that the step's update left, and nothing else
/// unless one of them is beyond its limit: then their gradients.
double apart_left_by(const StepPair& steps, DiffContext& context);

}  // namespace ttcheck::cli
