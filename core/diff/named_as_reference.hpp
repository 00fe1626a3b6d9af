#pragma once
// What went into an op, by the names that results have: the reference's.

#include <span>

#include "core/diff/met.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// Recomputing names inputs as the candidate does (`Recomputed::inputs`), whose counters may have
/// moved. Each that is a record of this step gets the name of the reference's record that it met,
/// or none, which no result has; others, parameters of earlier steps, keep theirs.
void name_as_reference(const MetStep& met, std::span<recompute::Recomputed> recomputed);

}  // namespace ttcheck::diff
