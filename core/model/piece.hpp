// SPDX-License-Identifier: Apache-2.0
#pragma once
// A piece: one rank's stored part of a logical tensor, and which boxes of it the bytes fill.

#include <cstdint>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/source.hpp"

namespace ttcheck {

enum class ByteOrder : std::uint8_t { little, big };

/// What is done to a stored number to get its value (torch's conj and neg bits).
enum class ValueFlag : std::uint8_t { none = 0, negate = 1, conjugate = 2 };

/// `box` of the logical tensor lies in the piece's storage: the element at index i is element
/// `start + sum_d (i[d] - box.lo[d]) * strides[d]`, counted from the piece's offset. Strides may be
/// 0 or negative; the reader that made the cell has checked that all of it is inside the source.
struct Cell {
  Box box;
  std::int64_t start = 0;
  Extents strides;

  bool operator==(const Cell&) const = default;
};

inline constexpr std::int32_t kNoRank = -1;  ///< the format has no ranks

struct Piece {
  const Source* source = nullptr;  ///< owned by the Run
  std::uint64_t offset = 0;        ///< first byte of element 0 in the source
  DType dtype = DType::u8;         ///< as stored
  ByteOrder order = ByteOrder::little;
  ValueFlag flag = ValueFlag::none;
  std::int32_t rank = kNoRank;  ///< the rank that holds (or wrote) it
  std::vector<Cell> cells;      ///< empty: the whole tensor, row-major, from element 0

  Where where() const { return source != nullptr ? source->where(offset) : Where{}; }
};

}  // namespace ttcheck
