// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records on a mesh -> logical tensors, with what is wrong in their coverage.

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/layout.hpp"
#include "core/model/mesh.hpp"
#include "core/model/run.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::assemble {

struct Assembly {
  std::vector<Tensor> tensors;  ///< in order of first appearance (traces: causal order is locate's)
  std::vector<Finding>
      findings;                 ///< TT504 overlap, TT505 omission, TT508 missing rank, TT307 shapes
  std::int64_t unreadable = 0;  ///< logical tensors that could not be put together at all
  std::vector<Identity> not_compared;  ///< rep=any: ranks have no common value
  /// The shape of what is there of tensors, by index, of whose shape nothing is stated and of which
  /// ranks are missing. The tensor's own is the largest that this allows.
  std::unordered_map<std::size_t, Shape> least;
};

/// Groups a step's records by identity and places each rank's array as boxes of the logical tensor.
/// Reads no tensor bytes. `numbers` are the names that sizes in dims may use ([model], facts).
Assembly assemble(State&& state, const Mesh& mesh, const Numbers& numbers);

/// Whether two tensors, given by index, may have the same shape, the one or the other being a
/// guess.
bool may_be_of_one_shape(const Assembly& a, std::size_t in_a, const Assembly& b, std::size_t in_b);

}  // namespace ttcheck::assemble
