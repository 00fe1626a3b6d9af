// SPDX-License-Identifier: Apache-2.0
#pragma once
// Masters that were rebuilt from 16-bit weights: within any limit that rounding sets, and wrong.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// A master that is noise by the model or by measure, but all of whose values on some rank lie on
/// the grid of a 16-bit type where the reference's are finer, diverged: what it was kept for is
/// lost. Its wrong ranks are those. Both sides must be masters, of 32 bits or more.
void judge_masters(const MetStep& met, std::span<TensorResult> results);

}  // namespace ttcheck::diff
