// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short sketches of slices, by which slices are found again elsewhere.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/tensor.hpp"
#include "core/model/value_map.hpp"

namespace ttcheck::explain {

inline constexpr std::size_t kSigns = 4;
using Sketch = std::array<double, kSigns>;

/// Sketches of every slice across one dimension: sums of its elements under fixed pseudo-random
/// signs (Achlioptas, "Database-friendly random projections", 2003). Equal slices have equal
/// sketches to the bit; the mean of (x - y)^2 over a sketch's numbers estimates |X - Y|^2 without
/// bias. Signs depend on an element's place in its slice alone, so that the rows of a matrix and
/// the columns of another can be compared.
struct Sketches {
  std::vector<Sketch> of;     ///< by index along the dimension
  std::vector<double> norm2;  ///< |slice|^2
};

/// One a dimension, in one pass in order; of one slice across dimension 0, one for each of the
/// others. NaN and infinities count as 0. REQUIRES a real dtype, and slices of an even number of
/// elements.
std::vector<Sketches> sketches_of(const Tensor& tensor, const ValueMap* map,
                                  std::optional<std::int64_t> slice = std::nullopt);

/// Estimate of the squared distance of two slices.
double distance2(const Sketch& a, const Sketch& b);

}  // namespace ttcheck::explain
