// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stored elements as floats, exactly, by the kernels where they know the dtype.

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/compare/kernel.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::compare {

/// Bytes of one element; packed dtypes have been unpacked to one byte a code.
inline std::size_t width_of(DType dtype) {
  return static_cast<std::size_t>(std::max(bits(dtype) / 8, 1));
}

/// `count` rounded up to whole vectors.
constexpr int padded(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// How a kernel reads that dtype as it is stored, if any does.
std::optional<Load> native_load(DType dtype);

/// How the kernels read that dtype, if it is one of integers.
std::optional<Whole> whole_of(DType dtype);

/// How the kernels read both sides, if they are of one such dtype, or truth values: these as u8,
/// all of which are 0 or 1.
std::optional<Whole> common_whole(DType a, DType b);

/// How the kernels widen that dtype, if it is a float of at most 8 bits that f16 can hold.
std::optional<SmallFormat> small_format(DType dtype);

/// `count` elements, at most kBlock, as floats in `out`, then zeros up to padded(count). REQUIRES
/// fits_float(dtype).
void widen(const Kernels& isa, DType dtype, const std::byte* from, int count, float* out);

}  // namespace ttcheck::compare
