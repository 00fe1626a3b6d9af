// SPDX-License-Identifier: Apache-2.0
#include "core/compare/complex.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/require.hpp"
#include "core/compare/floats.hpp"

namespace ttcheck::compare {
namespace {

/// The first part of a block from element `begin` on, and so many of it, whole vectors.
struct Part {
  double *a, *b, *d;
  int count;
};

/// Whether some distance may be the largest yet, or beyond what is close. As a sum of two numbers
/// that are not negative has a square no smaller than the sum of theirs, the tolerances are held to
/// by their squares.
bool may_matter(const Rule& rule, const Part& part, const Metrics& metrics) {
  Extremes found;
  const Bounds least{below_square(metrics.max_rel), below_square(rule.close_rtol),
                     below_square(rule.close_atol)};
  rule.isa->extremes(part.a, part.b, part.d, part.count, least, found);
  return std::sqrt(found.most) > metrics.max_abs || found.rises || found.beyond > 0;
}

}  // namespace

bool is_c64(const Rule& rule) { return rule.a == DType::c64 && rule.b == DType::c64; }

double below_square(double bound) { return bound * bound * (1 - 0x1p-40); }

bool add_c64_block(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                   std::int64_t base, WideBlock& block, Metrics& metrics) {
  require(is_c64(rule), "complex numbers of two f32");
  const Kernels& isa = *rule.isa;
  if (!isa.squares_apart(a, b, count, block.a, block.b, block.d)) return false;
  count_unequal_finite(rule, a, b, count, block, metrics);
  pad(block, count);
  for (int begin = 0; begin < count; begin += kFlush) {
    const Part part{block.a + begin, block.b + begin, block.d + begin,
                    padded(std::min(kFlush, count - begin))};
    add_sums(rule, As::squares, block, begin, count, metrics);
    if (!may_matter(rule, part, metrics)) continue;
    for (double* values : {part.a, part.b, part.d}) isa.roots(values, part.count);
    raise(rule, block, begin, count, base, metrics);
  }
  return true;
}

}  // namespace ttcheck::compare
