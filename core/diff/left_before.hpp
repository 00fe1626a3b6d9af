// SPDX-License-Identifier: Apache-2.0
#pragma once
// What steps leave to those behind them, for whoever did not compare them whole.

#include <functional>
#include <set>
#include <span>
#include <string>

#include "core/diff/context.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// What the steps before leave, as a diff of all steps would know it.
struct LeftBefore {
  noise::Carried noise;
  bool calls = false;  ///< of an optimizer are recorded: each starts from what the last one left
};

/// Parameters that are looked at, each by its name or its module's; empty: all.
using ParameterNames = std::set<std::string, std::less<>>;

/// What the step leaves, which itself found what `context` remembers; nothing where one of the runs
/// is no trace. Reads the weights that the step's update left, of an optimizer's calls what they
/// put in and out, and the gradients of weights that are beyond what a row of them may have, or of
/// all where updates are multiples of them. Leaves `context` fit for this alone.
LeftBefore left_by(const StepPair& steps, DiffContext& context, const ParameterNames& only = {});

/// Its parameters alone, whose values nobody asks for yet: reads no tensor.
LeftBefore parameters_left_by(const StepPair& steps, DiffContext& context);

/// What the last of `steps` leaves, each of which starts from what those before it left, the first
/// from `left`; all as `first` but for that.
LeftBefore left_by_all(std::span<const StepPair> steps, const DiffContext& first,
                       LeftBefore left = {}, const ParameterNames& only = {});

/// Those by which something was excused if steps before left them so: of a module that `left` tells
/// elements of, these; else all that the module has.
ParameterNames rests_on_before(const Verdict& verdict, const noise::Carried& left = {});

/// What diverged first did so whatever earlier steps left: it is wrong by its own inputs or by its
/// copies, or a gradient that is another one altogether (||B - A|| >= ||A||), which parameters that
/// are apart within their limits do not make.
bool is_bad_whatever_was_left(const Verdict& verdict);

/// The first result that diverged did so by a little: what earlier steps left apart may have made
/// it so, and that the others.
bool is_bad_by_little(const Verdict& verdict);

}  // namespace ttcheck::diff
