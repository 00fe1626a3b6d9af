// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading a logical tensor without building it: a range of its row-major index order is fetched
// from whatever pieces hold it, into one contiguous buffer of the caller.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck {

/// How ranges of one tensor are best read.
struct ReadPlan {
  std::int64_t granule =
      1;                    ///< ranges should start and end at multiples of it (packed types, rows)
  bool sequential = false;  ///< read front to back in one thread
};

ReadPlan plan_of(const Tensor& tensor);

/// Fills `out` with elements [begin, begin + count) of the logical tensor, row-major, in the stored
/// dtype's little-endian form, value flags applied (`negate` flips signs, `conjugate` the sign of
/// the imaginary part). Holes are left as zero bytes; callers skip them by `tensor.holes`. With
/// `reduce`, terms are summed in double in rank order and rounded to the tensor's dtype.
/// REQUIRES out.size() == byte_size(dtype, count), begin and count multiples of 8 elements for
/// packed dtypes (or count reaching the end). Throws Error that names file and offset.
/// Uses scratch memory of a few MiB per thread, whatever the tensor.
void gather(const Tensor& tensor, std::int64_t begin, std::int64_t count, std::span<std::byte> out);

/// Fills `out` as gather of a tensor does, from pieces alone: elements that no cell covers keep
/// what `out` has. Pieces must have the dtype `dtype`.
void gather(std::span<const Piece> pieces, DType dtype, const Shape& shape, std::int64_t begin,
            std::int64_t count, std::span<std::byte> out);

/// Half-open linear range of a row-major array.
struct LinearRange {
  std::int64_t begin = 0, end = 0;

  bool operator==(const LinearRange&) const = default;
};

/// The parts of [begin, end) that lie in any of the boxes: ascending, disjoint, not touching.
std::vector<LinearRange> ranges_in(std::span<const Box> boxes, const Shape& shape,
                                   std::int64_t begin, std::int64_t end);

}  // namespace ttcheck
