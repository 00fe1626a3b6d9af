// SPDX-License-Identifier: Apache-2.0
#pragma once
// --include and --exclude choose what is reported, not what is known. What chance may do to a
// record of a trace rests on others; those are judged, too, and then dropped. What a checkpoint's
// tensor is held to rests on whether the sides are copies of each other; the others are compared
// where that may change what is said.

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Marks the pairs that the filters leave out as evidence, and excludes them and leftovers of such
/// names under the filter's rule. A pair goes by the names of both sides.
void apply_filters(MetStep& met, const NameGlobs& names);

/// Bytes of a step's records on both sides, from which on those that are not reported are not read
/// as evidence either: what is reported then stands alone, and a note says so.
inline constexpr std::uint64_t kMostEvidence = std::uint64_t{4} << 30;

/// That is said of this tensor, or of the first one.
Finding stands_alone(std::uint64_t bytes, std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
