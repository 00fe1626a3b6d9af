// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the steps of one diff share.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/options.hpp"
#include "core/model/run.hpp"
#include "core/noise/memory.hpp"

namespace ttcheck::diff {

/// What one step hands to the next.
struct Memory {
  noise::Carried noise;
  std::set<std::string> reference_names, candidate_names;  ///< distinct, over all steps
  std::vector<align::JoinedModules> joined;                ///< that the steps before found
  bool first_step = true;
  bool alone = false;  ///< steps before this one were not compared by this diff
};

/// What lies beside a step, or beside both runs, on each side.
struct NamedStates {
  std::optional<std::int64_t> step;
  std::array<std::vector<NamedState>, 2> sides;
  Severity alone = Severity::note;  ///< of what one side alone has
};

/// What came of it, beside the verdict.
struct Told {
  std::string precondition;        ///< why the runs cannot be compared; empty: none
  bool bad = false;                ///< `until_bad`: it is, and the rest of the step was left out
  bool non_finite = false;         ///< `seek_non_finite`: the candidate has some outside of pairs
  bool cut_short = false;          ///< a signal came before everything was compared
  std::vector<NamedStates> named;  ///< of the steps that were met, still to be compared
};

class ComparedOnce;

struct DiffContext {
  const Run& reference;
  const Run& candidate;
  DiffOptions how;
  Memory memory{};
  Told told{};
  ComparedOnce* once = nullptr;  ///< of whoever looks at a step more than once; else null

  /// The options of the limits for the step that is looked at.
  const limits::LimitOptions& limits() const {
    return memory.first_step && how.first_limits ? *how.first_limits : how.limits;
  }

  void begin(std::string_view part) const {
    if (how.hooks.begins) how.hooks.begins(part);
  }

  /// The command to go on with from a result; empty where nobody has one.
  std::vector<std::string> next_of(const TensorResult& result) const {
    return how.hooks.next ? how.hooks.next(result, reference, candidate)
                          : std::vector<std::string>();
  }
};

}  // namespace ttcheck::diff
