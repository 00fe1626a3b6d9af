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

/// In how many pairs another way took the place of the first.
struct Otherwise {
  std::int64_t sums = 0;   ///< the sum of what ranks hold, of copies
  std::int64_t parts = 0;  ///< ranges of fused parts, of one range of the whole
};

/// Compares pairs that are not equal in the other ways that some have; the closest counts. Of a
/// tensor of one layer whose like in another layer is there as copies, ranks hold no addends.
Otherwise compare_otherwise(Work& work, std::vector<compare::Compared>& compared,
                            const Options& options);

/// What stands between the stored values and those compared; empty for nothing.
std::string_view seen_by(const compare::Pair& pair);

}  // namespace ttcheck::cli
