// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step for whoever only asks whether it is bad.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Judges the step's pairs as judge_all does, in their order and a part of the bytes at a time.
/// False as soon as it is known that something is beyond its limit whatever the rest are; what is
/// left is then not read, and `verdict` has the results until there. Of traces, nothing that chance
/// may have made so counts: it is excused at once, which leaves in `context` what the records
/// behind need.
bool judge_until_bad(MetStep& met, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
