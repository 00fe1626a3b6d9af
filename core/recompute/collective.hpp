// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collectives that one side of a trace dumped (`comm_in` and `comm_out` of one module, slot,
// micro-batch and call), laid out so that what went in must be what came out.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::recompute {

/// One group's collective. The value of `input`, its terms reduced, is the value of each copy of
/// `output`, element by element; both have one shape. They point into the sources of the records.
struct Collective {
  const Tensor* given = nullptr;    ///< the record of what went in
  const Tensor* gotten = nullptr;   ///< the record of what came out
  const Tensor* result = nullptr;   ///< what the module made of it at once, or null
  std::string op;                   ///< `all_reduce`; as recorded, or "collective"
  std::vector<std::int32_t> group;  ///< where it is known by itself; else empty
  Tensor input, output;
};

/// The collectives that the side dumped, in the order of `tensors`, which must outlive them. Where
/// dims lines say how ranks hold both, they count. Where they say nothing, `op` does (all_reduce,
/// reduce_scatter, all_gather, all_to_all, broadcast; groups in rank order, arrays cut along their
/// first dimension as NCCL does), with the attributes `reduce` (sum, avg, max), `group` (an axis,
/// or a list of ranks; it may be left out where there is one axis) and, of a broadcast, `root`.
/// What fits neither is left out.
std::vector<Collective> collectives_of(std::span<const Tensor> tensors, const Mesh& mesh);

}  // namespace ttcheck::recompute
