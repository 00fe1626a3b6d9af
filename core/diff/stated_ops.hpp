// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ops of which the sides' dumps list other arguments (eps, p, dim): TT309.

#include <span>
#include <vector>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// One warning at the first such op, with how many more there are; empty without any. Only of
/// formats that list the arguments of functions: what a native trace states may follow its layout.
/// `results` are in causal order.
std::vector<Finding> stated_ops(const MetStep& met, std::span<const TensorResult> results);

}  // namespace ttcheck::diff
