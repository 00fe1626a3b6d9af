// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slices of one tensor among those of another, by their sketches.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/explain/sketch.hpp"

namespace ttcheck::explain {

/// How far the noise of a sketch's number may reach, in sigmas.
inline constexpr double kSketchSigmas = 6;

/// Finds for each slice of `b` the slice of `a` that it is within `noise` of, each taken once, in
/// its place where it can be; nothing if one is within that of none. REQUIRES as many of both.
std::optional<std::vector<std::int64_t>> matching(const Sketches& a, const Sketches& b,
                                                  double noise);

/// Sum of squared distances of `b` from `a` in that order.
double left2(const Sketches& a, const Sketches& b, const std::vector<std::int64_t>& from);

}  // namespace ttcheck::explain
