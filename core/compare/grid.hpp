// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values that lie on the grid of a narrower type than the one they are stored in: what was rounded
// to 16 bits and widened again.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/compare/stop.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::compare {

struct Grid {
  std::string_view name;
  int fraction = 0;  ///< bits
};

inline constexpr std::array kGrids = {Grid{"bf16", 7}, Grid{"f16", 10}};
inline constexpr int kGridMargin = 3;          ///< bits that a finer value has beyond the grid
inline constexpr std::int64_t kGridLeast = 8;  ///< fewer values may lie on a grid by chance

/// The coarsest grid on which all of the candidate's values lie, at least kGridLeast that are not
/// 0, and from which most of the reference's are off by kGridMargin bits; nothing where there is
/// none, or a dtype is complex or as coarse itself. Holes count as zeros. Reads a side up to the
/// first value that decides. Throws Error, Stopped.
std::optional<Grid> coarser_grid(const Tensor& reference, const Tensor& candidate,
                                 const Stop& stop = {});

}  // namespace ttcheck::compare
