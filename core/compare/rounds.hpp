// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is one side the other, rounded to its coarser dtype?

#include <cstddef>

#include "core/compare/kernel.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::compare {

/// True when `to` does not hold all numbers of `from`, of the same class, so that they are rounded:
/// it has fewer digits, or a smaller range (bf16 to f16 loses small numbers).
bool rounds_to(DType from, DType to);

/// True when every element of `to` is that of `from` rounded to nearest even; NaN meets any NaN.
/// Both in stored form, one byte a code for packed dtypes. REQUIRES rounds_to(from, to).
bool rounds_block(const Kernels& isa, DType from_dtype, const std::byte* from, DType to_dtype,
                  const std::byte* to, int count);

}  // namespace ttcheck::compare
