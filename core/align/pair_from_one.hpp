#pragma once
// The rule of the bench for layers that one side counts from 0 and the other from 1.

#include "core/align/bench.hpp"
#include "core/align/contents.hpp"

namespace ttcheck::align {

/// Pairs a checkpoint's names with a number with those of the next number where that is proved:
/// these names are all there are with a number on either side, and what the first of them hold is
/// the same so, and is not under the same numbers. Names alone are no proof: a layer may be lost at
/// one end and added at the other.
void pair_from_one(Bench& bench, const ContentOf& content);

}  // namespace ttcheck::align
