#pragma once
// The ordinary comparison of two runs of one thing, made to measure how far they are apart: bounds
// that no two of them reach take the place of limits, so that other weights, another batch, NaN and
// other shapes are told with everything that `diff` says of them, and nothing else is.

#include "cli/options.hpp"
#include "core/align/align.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

struct Bounds {
  Options options;
  limits::LimitOptions first_step;  ///< in place of the options' own
};

/// The options of such a comparison: every result is kept, and a tensor may differ by `most` times
/// its own size, parameters before the first step by a few round-offs: what updates leave of them
/// later is measured as all else.
Bounds bounded(const Options& options, double most);

/// With `every_detail` worst rows and elements are measured of all pairs that differ.
Verdict diff_within_bounds(const Run& a, const Run& b, const Bounds& bounds,
                           const align::AlignOptions& align, bool every_detail);

/// Adds what one of several comparisons says: counts, its findings (a note once), and its outcome
/// and reason, if that is graver than what is there.
void join(Verdict& all, Verdict&& one);

}  // namespace ttcheck::cli
