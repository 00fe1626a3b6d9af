// SPDX-License-Identifier: Apache-2.0
#include "core/compare/grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "core/compare/values.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kFraction = 52;  // bits of a double's

/// Bits of the fraction that a value needs.
int bits_of(double value) {
  return kFraction -
         std::countr_zero(std::bit_cast<std::uint64_t>(value) | (std::uint64_t{1} << kFraction));
}

/// False where a range is nothing but holes, as most of what one rank holds of a tensor is.
bool held(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  if (tensor.holes.empty()) return true;
  const std::vector<Box> boxes = boxes_of_range(tensor.shape, begin, begin + count);
  return std::ranges::any_of(tensor.pieces, [&](const Piece& piece) {
    return piece.cells.empty() || std::ranges::any_of(piece.cells, [&](const Cell& cell) {
             return std::ranges::any_of(
                 boxes, [&](const Box& box) { return intersect(cell.box, box).has_value(); });
           });
  });
}

/// Values that are not 0, as far as they were read, and how many of them need more than `fraction`
/// bits. `enough(finer)` ends the reading.
template <class Enough>
std::pair<std::int64_t, std::int64_t> count_finer(const Tensor& tensor, int fraction,
                                                  const Stop& stop, Enough&& enough) {
  Values values(tensor);
  std::int64_t seen = 0, finer = 0;
  bool done = false;
  for_ranges(element_count(tensor.shape), stop, [&](std::int64_t begin, std::int64_t count) {
    if (done || !held(tensor, begin, count)) return;
    for (const double value : values.read(begin, count)) {
      if (value == 0 || !std::isfinite(value)) continue;
      ++seen;
      if (bits_of(value) > fraction) ++finer;
    }
    done = enough(finer);
  });
  return {seen, finer};
}

}  // namespace

std::optional<Grid> coarser_grid(const Tensor& reference, const Tensor& candidate,
                                 const Stop& stop) {
  if (is_complex(reference.dtype) || is_complex(candidate.dtype)) return std::nullopt;
  const int own =
      std::min(info(reference.dtype).mantissa_bits, info(candidate.dtype).mantissa_bits);
  for (const Grid& grid : kGrids) {
    if (own < grid.fraction + kGridMargin) continue;
    const auto [values, off] =
        count_finer(candidate, grid.fraction, stop, [](std::int64_t finer) { return finer > 0; });
    if (off > 0 || values < kGridLeast) continue;
    const auto [all, finer] = count_finer(reference, grid.fraction + kGridMargin - 1, stop,
                                          [](std::int64_t) { return false; });
    return finer * 2 > all ? std::optional(grid) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ttcheck::compare
