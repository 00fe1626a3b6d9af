// SPDX-License-Identifier: Apache-2.0
#pragma once
// Do two groups of runs differ by more than the runs of a group among themselves? The noise is
// measured, so no limit is needed.

#include <cstddef>
#include <span>

#include "core/diff/options.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::repeats {

inline constexpr std::size_t kMostInGroups = 16;  ///< runs of both groups

/// The first `first` of `runs` are one group, the others the second. REQUIRES two or more in each.
Verdict diff_ensembles(std::span<const Run> runs, std::size_t first, const diff::DiffOptions& how);

}  // namespace ttcheck::repeats
