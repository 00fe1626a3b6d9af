// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ordinary comparison of two runs of one thing, made to measure how far they are apart: bounds
// that no two of them reach take the place of limits, so that other weights, another batch, NaN and
// other shapes are told with everything that `diff` says of them, and nothing else is.

#include <string>

#include "core/diff/options.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::repeats {

/// How such a comparison is made: every result is kept, and a tensor may differ by `most` times its
/// own size, parameters before the first step by a few round-offs: what updates leave of them later
/// is measured as all else. `command`: where these limits come from, in words. `states`: how far
/// two checkpoints are apart is asked, too.
diff::DiffOptions bounded(const diff::DiffOptions& how, double most, const std::string& command,
                          bool states);

/// Throws Error.
Verdict diff_within_bounds(const Run& a, const Run& b, const diff::DiffOptions& bounds);

/// Adds what one of several comparisons says: counts of what was not compared, its findings (a note
/// once), and its outcome and reason, if that is graver than what is there.
void join(Verdict& all, Verdict&& one);

}  // namespace ttcheck::repeats
