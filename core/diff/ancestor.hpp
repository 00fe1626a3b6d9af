// SPDX-License-Identifier: Apache-2.0
#pragma once
// A state that both sides of a step came from: of a run that the user names, or the step before
// this one, where both series agree.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/diff/context.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/work.hpp"
#include "core/model/step.hpp"

namespace ttcheck::diff {

struct Ancestor {
  std::string name;                    ///< path, and step where there is one
  OpenedStep opened;                   ///< has the tensors
  std::vector<Tensor> views;           ///< what maps between names made of them
  std::vector<const Tensor*> by_pair;  ///< null where it has none of that shape, stored and real
};

/// Opens the ancestor in `context.how.base`, which must not be null: its newest step below this
/// one, else its newest. Throws Error where it cannot be opened, or no pair finds a tensor there.
Ancestor named_ancestor(const Work& work, const StepPair& steps, const DiffContext& context);

/// The step before this one as both runs have it, if it has one number there. Whether they agree is
/// not judged here. Nothing where it cannot be opened.
std::optional<std::array<Ancestor, 2>> step_before(const Work& work, const StepPair& steps,
                                                   const DiffContext& context);

}  // namespace ttcheck::diff
