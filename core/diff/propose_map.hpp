#pragma once
// A map for names that do not meet, to paste into --map FILE.

#include <optional>

#include "core/diff/aligned.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::diff {

/// TT304 as a note: the names that nothing makes meet, and a map of those of which one partner
/// alone can be meant. Nothing where no two of them are of one shape.
std::optional<Finding> propose_map(const Aligned& aligned);

}  // namespace ttcheck::diff
