#pragma once
// The first pass over a step for whoever only asks whether it is bad.

#include <optional>
#include <vector>

#include "cli/meet_step.hpp"

namespace ttcheck::cli {

/// As compare_all, in order and a part of the bytes at a time. Nothing as soon as a pair is beyond
/// the limit that holds whatever the others are; what is left is then not read. In a trace all are
/// compared where the first that is beyond is so by a little (cli/apart_left). `apart`:
/// limits::LimitContext::apart.
std::optional<std::vector<compare::Compared>> compare_until_bad(const MetStep& met,
                                                                const Options& options,
                                                                const limits::Apart& apart);

}  // namespace ttcheck::cli
