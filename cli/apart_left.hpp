#pragma once
// What one step leaves to the limits of the next, for whoever did not compare the step whole.

#include <map>
#include <string>

#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// As a diff of all steps would know it.
struct ApartLeft {
  limits::Apart apart;
  std::map<std::string, compare::SetApart> carried;  ///< DiffContext::carried
};

/// What the step `steps` leaves; nothing where one of the runs is no trace. Reads the weights that
/// the step's update left, and nothing else unless one of them is beyond its limit: then their
/// gradients.
ApartLeft apart_left_by(const StepPair& steps, DiffContext& context);

}  // namespace ttcheck::cli
