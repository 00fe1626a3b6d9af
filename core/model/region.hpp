// SPDX-License-Identifier: Apache-2.0
#pragma once
// One strided part of a piece's storage, copied to its places in a row-major buffer by reads of
// bounded size. The machinery below core/model/gather.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/piece.hpp"

namespace ttcheck {

/// All counts and strides in elements.
struct RegionDim {
  std::int64_t size = 1;
  std::int64_t from = 0;  ///< stride in the storage; may be 0 or negative
  std::int64_t to = 0;    ///< stride in the buffer; > 0
};

struct Region {
  const Piece& piece;
  std::int64_t start = 0;  ///< element of the storage at the first index
  std::int64_t to = 0;     ///< its place in the buffer
  std::vector<RegionDim> dims;
};

/// Copies every element of the region to `out`, byte order and value flag of the piece undone.
/// Neighbouring elements are fetched with one read of at most 256 KiB; a whole contiguous region
/// goes straight into `out`. Throws Error that names file and offset.
void copy_region(const Region& region, std::span<std::byte> out);

}  // namespace ttcheck
