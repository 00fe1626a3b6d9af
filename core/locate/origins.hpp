// SPDX-License-Identifier: Apache-2.0
#pragma once
// Introduced or inherited: which diverged record is where an error came about, and which only pass
// it on. The edge rule: an op whose inputs are within their limits and whose output is not is wrong
// by itself. Several may be. What was recomputed tells more: an op that does not give what its own
// inputs give is wrong whatever went in, and one that does is right.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/model/verdict.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::locate {

/// What is known of where the error of one diverged result came about.
struct Origin {
  /// Every recorded input of its op is within its limit, or it was recomputed and is wrong (true);
  /// one is not, or it was recomputed and is right (false); or none was recorded (nothing).
  std::optional<bool> introduced;
  std::size_t root =
      0;  ///< the result in which it was introduced, as far as inputs lead; or itself
};

/// One for each result. Of one that is not diverged it says nothing, but for one whose error is
/// more than twice what was measured of it (Limit::measured) and whose inputs lead to one that
/// diverged: that is inherited, and so is what it leads to. Inputs are those that the record names
/// or, where it names none, what went into its module: `input` of a forward record, `grad_output`
/// of a backward one. What goes in is what came out before if both sides' norms and that of the
/// difference are the same to the bit. `results` are of one step, in causal order; only what came
/// before a record counts as its input. Time is linear in results and names. `recomputed`: one for
/// each result, or empty; of records that name no inputs it does.
std::vector<Origin> origins_of(std::span<const TensorResult> results,
                               std::span<const recompute::Recomputed> recomputed = {});

}  // namespace ttcheck::locate
