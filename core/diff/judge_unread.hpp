#pragma once
// Pairs that are judged without their bytes: by manifests, by stored hashes or by statistics.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Judges `met.unread`: results go to `verdict`, and what they tell the limits of the others to
/// `met.work`.
void judge_unread(MetStep& met, const DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
