#pragma once
// Some pairs of two checkpoints, held to what all pairs tell.

#include <span>

#include "core/compare/compare.hpp"
#include "core/diff/context.hpp"
#include "core/diff/work.hpp"
#include "core/model/step.hpp"

namespace ttcheck::diff {

/// Tells `some`, of which the first pass found `compared`, what `others` tell the limits: by their
/// shapes and, where a pair of `some` is not equal and may be held to nothing at all because the
/// sides are copies of each other, by whether half of all pairs are equal. For that others are
/// read, the smallest first, until it is known; where it is not once kMostEvidence was read, `some`
/// is judged alone, and a note says so; where a signal came, a finding. Nothing where `some` knows
/// already (traces).
void know_others(Work& some, std::span<const compare::Compared> compared, const Work& others,
                 const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
