#pragma once
// What one step leaves to the limits of the next, for whoever did not compare the step whole.

#include <array>
#include <span>
#include <string>

#include "cli/step_diff.hpp"

namespace ttcheck::cli {

/// As a diff of all steps would know it.
struct ApartLeft {
  bool calls = false;  ///< of an optimizer are recorded: each starts from what the last one left
  limits::Apart apart;
  Carried carried;                         ///< DiffContext::carried
  std::array<Parameters, 2> parameters{};  ///< DiffContext::parameters
};

/// What the step `steps` leaves; nothing where one of the runs is no trace. Reads the weights that
/// the step's update left, and nothing else unless one of them is beyond its limit: then their
/// gradients.
ApartLeft apart_left_by(const StepPair& steps, DiffContext& context);

/// Its parameters alone, whose values nobody asks for yet: reads no tensor.
ApartLeft parameters_left_by(const StepPair& steps, DiffContext& context);

/// What the last of `steps` leaves, each of which starts from what those before it left; all as
/// `first` but for that.
ApartLeft apart_left_by_all(std::span<const StepPair> steps, const DiffContext& first);

/// By so many limits at most does what earlier steps left apart put a result beyond its own.
inline constexpr double kLittle = 16;

/// The first result that diverged did so by a little: what earlier steps left apart may have made
/// it so, and that the others.
bool is_bad_by_little(const Verdict& verdict);

}  // namespace ttcheck::cli
