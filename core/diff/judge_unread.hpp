// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs that are judged without their bytes: by manifests, by stored hashes or by statistics.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Judges `met.unread`: results go to `verdict`, and what they tell the limits of the others to
/// `met.work`.
void judge_unread(MetStep& met, const DiffContext& context, Verdict& verdict);

/// Judges pairs that are not reported, with and without bytes: their results are added, and no
/// finding of theirs. A signal meanwhile is told in `context`.
void judge_evidence(MetStep& met, DiffContext& context, Verdict& verdict);

/// Takes results of such pairs out again, from the `first` of this step on.
void drop_evidence(const MetStep& met, std::size_t first, Verdict& verdict);

}  // namespace ttcheck::diff
