#pragma once
// The first pass over the pairs of a step, and the other way to compare those that have one.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cli/judging.hpp"
#include "cli/options.hpp"

namespace ttcheck::cli {

/// compare::compare, as the options say, with progress; a signal ends it early.
std::vector<compare::Compared> compare_all(std::span<const compare::Pair> pairs,
                                           const Options& options);

/// Compares pairs that are not equal in the other way that some have. The number of those in which
/// the sum of what ranks hold took the place of copies.
std::int64_t compare_otherwise(Work& work, std::vector<compare::Compared>& compared,
                               const Options& options);

/// What stands between the stored values and those compared; empty for nothing.
std::string_view seen_by(const compare::Pair& pair);

}  // namespace ttcheck::cli
