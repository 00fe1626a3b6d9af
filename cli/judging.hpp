#pragma once
// The pairs of one step: compared, held to their limits, judged, counted.

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/step_diff.hpp"
#include "core/assemble/ways.hpp"
#include "core/compare/compare.hpp"
#include "core/limits/limits.hpp"

namespace ttcheck::cli {

/// Another way to compare a pair: counts where it comes clearly closer.
struct Alternative {
  std::size_t pair = 0;
  compare::Pair other;
  bool parts = false;  ///< ranks hold a range of each fused part (core/assemble/ways)
};

/// The pairs whose bytes are to be compared, and the name rule of each.
struct Work {
  std::vector<compare::Pair> pairs;
  std::vector<const std::string*> rules;  ///< owned by the alignment, which must outlive this
  std::set<compare::Tolerance> tolerances;
  std::vector<Alternative> alternatives;
  assemble::PartLengths parts;  ///< of fused tensors met so far
  std::deque<Tensor> ways;      ///< of undeclared tensors, that alternatives refer to
  /// What the limits need to know of all pairs, where these are only some of them.
  std::optional<limits::LimitContext> context;
  /// Pairs known to be equal, unread, constant ones not counted, and what they tell the limits.
  std::size_t known_equal = 0;
  limits::LimitContext known;
};

/// Counts every pair and adds a result for each that is not equal; for equal ones, too, in traces
/// and where all are asked for. What could not be read, whole or in time, becomes a finding.
/// Memory: one `Compared` a pair, and results of a few thousand pairs at a time.
void judge_all(Work& work, bool trace, const StepPair& steps, DiffContext& context,
               Verdict& verdict);

/// What the limits need to know of all pairs, after the first pass over them.
limits::LimitContext context_of(const Work& work, std::span<const compare::Compared> compared,
                                bool trace);

/// Judges what compare_all found of the pairs.
void judge_compared(Work& work, std::vector<compare::Compared> compared, bool trace,
                    const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::cli
