// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was read of pairs, for steps that are looked at more than once.

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/compare/moved.hpp"
#include "core/diff/context.hpp"
#include "core/diff/work.hpp"
#include "core/model/step.hpp"

namespace ttcheck::diff {

/// What passes after the first found of a pair, whatever limit they were asked for.
struct SecondLook {
  double free_of_sentinel = -1;  ///< no value hides the rest up to this limit
  std::optional<Detail> detail;
  std::optional<std::vector<RankError>> ranks;
  std::optional<compare::Sampled> sample;
};

/// Lives as long as the search: one `Compared` for each pair that was read whole, and what was
/// found behind it. Of pairs that may be compared in another way nothing is kept. REQUIRES that a
/// step is met the same way each time.
class ComparedOnce {
 public:
  /// Compares the work's pairs as compare_all does, without reading those again that were found
  /// before.
  std::vector<compare::Compared> compare(const Work& work, const StepPair& steps,
                                         const DiffOptions& how, bool sample);

  /// The places into which what is found of each pair of the work goes; null where nothing of it is
  /// kept. Good as long as this lives, and each from one thread at a time.
  std::vector<SecondLook*> second_looks(const Work& work, const StepPair& steps);

  /// What the first pass found of each of so many pairs of a step; null where nothing is kept.
  std::vector<const Metrics*> known(const StepPair& steps, std::size_t pairs) const;

 private:
  struct Found {
    compare::Compared first;
    SecondLook second;
  };
  using OfStep = std::unordered_map<std::size_t, Found>;  // by place among the step's pairs

  OfStep& of_step(const StepPair& steps) { return found_[{steps.reference, steps.candidate}]; }

  std::map<std::pair<std::size_t, std::size_t>, OfStep> found_;
};

/// compare_all, but for what the context knows already.
std::vector<compare::Compared> compare_work(const Work& work, const StepPair& steps, bool sample,
                                            const DiffContext& context);

}  // namespace ttcheck::diff
