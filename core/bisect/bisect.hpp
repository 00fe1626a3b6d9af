// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first bad step of two runs, or the first bad op of a step of two traces, reading as little as
// possible.

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "core/bisect/is_bad.hpp"
#include "core/bisect/search.hpp"
#include "core/diff/options.hpp"
#include "core/model/run.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::bisect {

struct SearchInput {
  const Run& reference;
  const Run& candidate;
  std::vector<StepPair> pairs;  ///< those that both have
  diff::DiffOptions how;        ///< each step is compared
  Predicate bad = Predicate::diverged;
  std::map<std::size_t, Mark> known{};  ///< what an earlier search told of `pairs`, by place
  std::function<Mark(const StepPair&)> judge{};  ///< in place of `bad`; may be empty
  /// A place of `pairs` was looked at, one of so many that were left; may be empty.
  std::function<void(std::size_t, Mark, Interval)> looked{};
};

/// The comparison of the first bad step, or of the last good one where none is bad, with what the
/// search came to. Compares a step of two traces that is bad a second time, with what those before
/// it left, and once more the one that it reports; no other twice, and none that is known but the
/// one it reports; of two traces whose first bad step is told, the first step, too. Throws Error.
Verdict over_steps(const SearchInput& input);

/// Step by step until one has a bad op; what a diff of it says, of the records that were looked at.
/// The others are excluded by the rule `bisect`. Throws Error, also where a run is no trace.
Verdict over_ops(const SearchInput& input);

}  // namespace ttcheck::bisect
