// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is to become of each pair of names that met: its bytes are compared, or it is judged
// without, or it cannot be compared.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Fills `met.work`, `met.unread` and `met.pairs`. What has another shape, or cannot be compared
/// for what its files do not state, is said in `verdict`.
void meet_pairs(MetStep& met, const DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
