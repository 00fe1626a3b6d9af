// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tensor holds where inside it: sums by slices of its axes and by blocks, a histogram, the
// worst elements. One streamed pass; memory grows with axes and their bins, never with elements.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/profile.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::compare {

/// An axis to be profiled: a dimension, in groups of consecutive slices (heads of a dimension that
/// holds heads x head size).
struct AxisChoice {
  std::string name;
  std::size_t dim = 0;
  std::int64_t group = 1;  ///< slices that are one; at least 1
};

/// The most bins of one axis; more groups of slices share bins.
inline constexpr std::int64_t kMostBins = 4096;

/// The most blocks down and across.
inline constexpr std::int64_t kMostBlocksDown = 16;
inline constexpr std::int64_t kMostBlocksAcross = 32;

/// Profiles a tensor against another one or, where `pair.candidate` is null, alone. `rms`: of A's
/// finite elements, the unit of a pair's histogram; 0: the histogram is of |b-a| itself. Holes of
/// either side take no part. The `top` worst elements are listed, without ranks and places. Sums
/// are fp64, in an order that depends on dtypes and shape alone. Throws Error, Stopped.
Profile profile(const Pair& pair, std::span<const AxisChoice> axes, double rms, std::size_t top,
                const Stop& stop = {});

/// The narrowest run of bins of one axis that holds 99% of the error, if it is at most half of the
/// axis.
std::optional<Confinement> confinement(const Profile& profile);

}  // namespace ttcheck::compare
