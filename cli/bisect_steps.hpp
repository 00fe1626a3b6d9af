#pragma once
// The first bad one of the steps that both runs have.

#include <array>
#include <vector>

#include "cli/step_diff.hpp"
#include "cli/steps.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// What `bisect` works on, opened.
struct BisectInput {
  const Run& reference;
  const Run& candidate;
  const Options& options;
  const align::AlignOptions& align;
  std::vector<StepPair> pairs;
  std::array<const Manifest*, 2> manifests{};  ///< of the two sides; null: none
};

/// The comparison of the first bad step, or of the last good one where none is bad, with what the
/// search came to. Reads no step twice, and none that the replayed log knows, but the one it
/// reports. Throws Error.
Verdict bisect_steps(const BisectInput& input);

}  // namespace ttcheck::cli
