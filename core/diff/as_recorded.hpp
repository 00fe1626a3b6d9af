// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor whose bytes were kept, as a dump without bytes would have recorded it, so that it can be
// compared with one that such a dump holds.

#include "core/model/tensor.hpp"

namespace ttcheck::diff {

/// The tensor with the hash (`xxh3`) and statistics of each rank's local array beside its pieces,
/// and not `stored`. Ranks whose array is not dense, row-major and little-endian have no hash; one
/// with NaN or Inf, or of complex numbers, has no statistics, as dumps differ in what they write.
/// Without `sums` statistics are the smallest and largest value alone: how another program added is
/// not known to the last bit. Reads every piece and replica once. Throws Error.
Tensor as_recorded(const Tensor& stored, bool sums);

}  // namespace ttcheck::diff
