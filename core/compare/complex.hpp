// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks of complex numbers of two f32 on both sides, by the squares of their moduli: roots are
// taken of those parts of a block alone where one may decide.

#include <cstddef>
#include <cstdint>

#include "core/compare/rule.hpp"
#include "core/compare/wide.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// Whether both dtypes are such numbers.
bool is_c64(const Rule& rule);

/// What a bound on a distance becomes for its square, below it by more than all rounding on the
/// way.
double below_square(double bound);

/// Measures a block as decode_block and sum_block of core/compare/wide.hpp do. False where it holds
/// what is not finite: then nothing is added. REQUIRES is_c64.
bool add_c64_block(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                   std::int64_t base, WideBlock& block, Metrics& metrics);

}  // namespace ttcheck::compare
