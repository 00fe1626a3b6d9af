// SPDX-License-Identifier: Apache-2.0
#pragma once
// What statistics tell of records whose values were not kept.

#include "core/model/tensor.hpp"

namespace ttcheck::noise {

/// The absolute size of one element: the root mean square over all, and the largest.
struct Magnitude {
  double usual = 0, most = 0;
};

/// Statistics of a record whose values were not kept; null of others.
const StoredStats* statistics_alone(const Tensor& tensor);

/// The size of one element: the root mean square or, where no norm was stored, the largest.
double size_told(const StoredStats& stats);

/// The most by which an element of both is apart at least, by the least and the largest.
double extremes_apart(const StoredStats& a, const StoredStats& b);

/// What a and b are apart by, as far as statistics tell: at least.
Magnitude apart_told(const StoredStats& a, const StoredStats& b);

}  // namespace ttcheck::noise
