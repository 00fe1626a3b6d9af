#pragma once
// The first pass over a step for whoever only asks whether it is bad.

#include <optional>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// As compare_all, in order and a part of the bytes at a time. Nothing as soon as a pair is beyond
/// the limit that holds whatever the others are; what is left is then not read. In a trace all are
/// compared where the first that is beyond is so by a little (noise::kLittle).
std::optional<std::vector<compare::Compared>> compare_until_bad(const MetStep& met,
                                                                const DiffContext& context);

}  // namespace ttcheck::diff
