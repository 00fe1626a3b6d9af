// SPDX-License-Identifier: Apache-2.0
#pragma once
// States with a name beside a series that are copies of one of its steps: `final/` of the last
// `checkpoint-N`, `last.ckpt`.

#include <vector>

#include "core/model/finding.hpp"
#include "core/model/run.hpp"

namespace ttcheck::diff {

/// A note for each state beside a run that is a copy of a step: all its tensors are there, bit for
/// bit; the step may hold more. Looked at is the step that the state says it is of, else the
/// newest. Reads both up to the first difference, the smallest tensors first. What cannot be read
/// is no copy.
std::vector<Finding> copies_of_steps(const Run& reference, const Run& candidate);

}  // namespace ttcheck::diff
