// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long an update of the optimizer may be, as both sides' checkpoints state it.

#include <array>
#include <optional>

#include "core/diff/open_step.hpp"

namespace ttcheck::diff {

/// The larger learning rate of the two, of all groups of parameters; where a schedule lowered it,
/// the rate that it began with. Nothing where groups differ, where a side states none, or where its
/// tensors have no two moments beside them: an update of another optimizer may be of any length.
std::optional<double> learning_rate(const std::array<OpenedStep, 2>& sides);

}  // namespace ttcheck::diff
