// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a step leaves of its parameters to the steps behind it.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Takes the step's parameters along, for steps that record none, and their gradients, whose update
/// the next step's state may be the first to show. The step's tensors are spent.
void keep_parameters(MetStep& met, noise::Carried& carried);

}  // namespace ttcheck::diff
