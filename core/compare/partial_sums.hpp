// SPDX-License-Identifier: Apache-2.0
#pragma once
// What adding terms up makes of a sum that is zero but for round-off. Each addition rounds the sum
// so far, which is far larger where terms of one sign lie together: a pooling gives all pixels of
// an image the same gradient, so that the sum goes up by one image and down by the next.

#include <cstdint>
#include <optional>

#include "core/compare/stop.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::compare {

/// Squares, added up over the channels.
struct PartialSums {
  double sums = 0;   ///< of the sum so far, at each term
  double terms = 0;  ///< of the terms
};

/// Of the terms of each of so many channels, added up in the order in which they are stored.
/// Nothing where no dim is of that extent, or the values are not stored, complex or not finite.
/// Reads it once. Throws Error, Stopped.
std::optional<PartialSums> partial_sums(const Tensor& terms, std::int64_t channels,
                                        const Stop& stop = {});

}  // namespace ttcheck::compare
