// SPDX-License-Identifier: Apache-2.0
// A value that is stored in a dtype of spacing eps at 1 moves by at most eps / 2 of itself, and
// like a uniform number: by eps / sqrt(12) in the root mean square. Of r such roundings, which have
// nothing to do with each other, the squares add up, and so do those of two sides:
//
//   rel <= eps / sqrt(12) * sqrt(2 r)
//
// The longest way between two ops that have weights is attention: the queries' rotation (two
// products and a sum), the keys', the scores, their scale, softmax, the product with the values,
// and what the projection behind it puts out, r = 11. tests/roundoff measures what ways of
// computing one op make of the same inputs: norms, products, gates and attention up to 0.71 eps,
// where the bound is 1.35 eps. But a sharp softmax multiplies what its scores are off by with their
// size (1.6 eps at scores of 20): so this bound only tells where runs that have diverged parted
// first, and condemns no run.
//
// Whatever the size of such errors, they have no side: half of the values become larger. What all
// values of a tensor have in common is a factor that was rounded itself (a scale, a root of the
// width), by at most eps / 2; two of them come to eps. The median of b / a - 1 tells that
// (core/compare/lean); tests/roundoff saw up to 0.13 eps of it, and 0.18 eps of a rounded factor.

#include "core/limits/own_roundoff.hpp"

#include <algorithm>
#include <cmath>

namespace ttcheck::limits {
namespace {

constexpr double kRoundings = 11;  // from one op with weights to the next
constexpr double kSides = 2;
constexpr double kFactors = 2;  // rounded themselves, that all values are multiplied by

}  // namespace

bool has_own_roundoff(DType coarsest) { return coarsest == DType::bf16 || coarsest == DType::f16; }

double own_lean(DType coarsest) { return kFactors * epsilon(coarsest) / 2; }

double own_roundoff(DType coarsest, std::int64_t weights, std::int64_t addends) {
  const double ops = static_cast<double>(std::max<std::int64_t>(weights, 1));
  const double roundings = kSides * kRoundings * ops + static_cast<double>(addends);
  return epsilon(coarsest) * std::sqrt(roundings / 12);
}

}  // namespace ttcheck::limits
