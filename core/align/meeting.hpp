// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records that only one of two traces has: in between records that both have, or beyond them.

#include <cstddef>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Tells of each of `alone` (indices into a trace's tensors; `met` are those of the paired ones)
/// whether what is around it met: true when its op has a record that was paired, or when the
/// records before and after its op, by `seq` on its rank, were; of ops that are named by a counter,
/// the records before and after all of them that are alone there. An op is a module in one phase,
/// micro-batch and call. Tensors that are in neither list are passed over; what comes before the
/// first or after the last record was not paired.
std::vector<bool> neighbours_meet(std::span<const Tensor> tensors, std::span<const std::size_t> met,
                                  std::span<const std::size_t> alone);

}  // namespace ttcheck::align
