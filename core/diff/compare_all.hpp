// SPDX-License-Identifier: Apache-2.0
#pragma once
// The first pass over the pairs of a step.

#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/options.hpp"

namespace ttcheck::diff {

/// compare::compare, as the options say, with progress; a signal ends it early. `sample` as there.
std::vector<compare::Compared> compare_all(std::span<const compare::Pair> pairs,
                                           const DiffOptions& how, bool sample = false);

}  // namespace ttcheck::diff
