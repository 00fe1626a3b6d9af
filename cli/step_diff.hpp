#pragma once
// One step of both runs: open, assemble, align, compare, limit, judge, locate.

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/carried.hpp"
#include "cli/manifest_file.hpp"
#include "cli/options.hpp"
#include "cli/steps.hpp"
#include "core/align/align.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"
#include "core/recompute/graph.hpp"

namespace ttcheck::cli {

/// What lies beside a step, or beside both runs, on each side.
struct NamedStates {
  std::optional<std::int64_t> step;
  std::array<std::vector<NamedState>, 2> sides;
};

/// What the steps of one diff share.
struct DiffContext {
  const Run& reference;
  const Run& candidate;
  const Options& options;
  const align::AlignOptions& align;
  std::set<std::string> reference_names, candidate_names;  ///< distinct, over all steps
  Carried carried;           ///< what noise made differ in the steps before
  std::string precondition;  ///< why the runs cannot be compared; empty: none
  limits::Apart apart{};     ///< what the steps before left, of a trace
  bool first_step = true;
  /// Of the first step, in place of the options' limits; null: the same as of all steps.
  const limits::LimitOptions* first_limits = nullptr;
  bool ends = false;       ///< nothing but a report comes after the last step of this diff
  bool last_step = false;  ///< this is that step
  bool alone = false;      ///< earlier steps were not compared
  /// Of the reference and the candidate: tensors that have the same hash there are equal.
  std::array<const Manifest*, 2> manifests{};
  bool by_hash = false;    ///< a stored hash that is the same stands for the bytes
  bool until_bad = false;  ///< that a step has something beyond its limit is all that is wanted
  bool bad = false;        ///< it was told so, and the rest of the step was left out
  bool recompute = false;  ///< ops whose output diverged are recomputed from their own inputs
  /// What earlier steps left of both sides' parameters, where ops are recomputed.
  std::array<Parameters, 2> parameters{};
  bool every_detail = false;  ///< also of pairs that are noise
  bool non_finite = false;    ///< wanted by --bad: the candidate has NaN or Inf outside of pairs
  bool cut_short = false;     ///< a signal came before everything was compared
  std::vector<NamedStates> named{};  ///< of the steps that were met, still to be compared

  /// Of the step that is looked at.
  const limits::LimitOptions& limits() const {
    return first_step && first_limits != nullptr ? *first_limits : options.limits;
  }
};

/// Adds the step's results, findings and counts to `verdict`.
void diff_step(const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::cli
