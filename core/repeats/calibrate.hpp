// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far correct runs are apart.

#include <span>

#include "core/diff/options.hpp"
#include "core/limits/limits_file.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::repeats {

inline constexpr std::size_t kMostCalibrated = 16;  ///< runs, with the reference; 120 comparisons

struct Calibrated {
  Verdict verdict;
  limits::LimitsFile limits;  ///< to be written where the verdict is sound
  bool sound = false;         ///< no run differs by more than correct ones can
};

/// Compares correct runs with each other, the first being the reference; those that differ by more
/// than correct ones can are named. `program`: the words that the file says who made it.
Calibrated calibrate(std::span<const Run> runs, const diff::DiffOptions& how,
                     const std::string& program);

}  // namespace ttcheck::repeats
