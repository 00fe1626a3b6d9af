// SPDX-License-Identifier: Apache-2.0
#pragma once
// Max pooling in two dimensions: of each window the largest value is kept, and its gradient goes to
// the place that it came from. Two values of a window that are equal but for round-off are in
// either order by chance, and the gradient is at one place in one of two correct runs and at the
// other in the other.

#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/compare/turned.hpp"

namespace ttcheck::compare {

/// The records around a pooling: what goes in and comes out, and the gradients of both.
struct Pooling {
  const Pair &values, &maxima, &gradient_of_maxima, &gradient;
};

/// What windows that another place won on one side alone make of the difference of the gradient.
/// Nothing where the records are not those of a max pooling, which is shown on each side: every one
/// of the maxima is the largest of its window, to the bit, and the gradient is the sum of what came
/// to the windows that a place won (the first of equal ones), but for the rounding of that sum, and
/// zero elsewhere. Windows are square, the same in both dimensions, and found by trying those of up
/// to 7 elements: of those that are not it the first plane shows it. Nothing either where `gated`
/// finds nothing. Reads each of the eight once where it is one. Throws Error, Stopped.
std::optional<Gated> pooled(const Pooling& pooling, const Stop& stop = {});

}  // namespace ttcheck::compare
