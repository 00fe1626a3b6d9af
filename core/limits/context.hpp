// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the limits need to know of the two runs beside the pair itself.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "core/model/dtype.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::limits {

/// How far earlier steps left parameters apart that are noise: rel of all of them, added up like
/// independent errors.
struct Apart {
  double noise = 0;   ///< within their limits
  double chance = 0;  ///< by elements that were set apart: the sign of their gradient was chance
  std::set<std::string> diverged{};  ///< parameters that are beyond their limits, which is no noise

  bool any() const { return noise > 0 || chance > 0; }
};

/// What the limits need to know of the two runs beside the pair itself.
struct LimitContext {
  bool trace = false;
  DType coarsest = DType::f64;            ///< of the recorded floating tensors of both sides
  std::int64_t depth = 1;                 ///< number of layers
  std::int64_t encoder = 0, decoder = 0;  ///< of them, where the two are one behind the other
  std::string stack{};      ///< what the reference numbers its layers behind; empty: it does not
  bool stacks = false;      ///< it numbers them in several places, so that a number is no depth
  std::int64_t matrix = 0;  ///< largest extent of a tensor of two or more dimensions
  std::int64_t flat = 1;    ///< of one dimension: may be a buffer, which nothing sums over

  /// The number of layers on the longest way through the network.
  std::int64_t layers() const { return std::max(depth, encoder + decoder); }
  /// The number of layers on the way to this record of the reference and, of a gradient, back to
  /// it. Of what does not stand in a layer of the one stack that there is, that of the longest way.
  std::int64_t layers_to(const Tensor& reference) const;
  /// Elements of the longest sum.
  std::int64_t length() const { return matrix > 0 ? matrix : flat; }
  Apart apart;
};

/// Widens `context` by one recorded tensor: coarsest dtype, depth from the layer number in its
/// name, longest extent.
void observe(LimitContext& context, const Tensor& tensor);

/// Widens `context` by both tensors of a pair, and by where the reference's stands in a stack of
/// layers.
void observe(LimitContext& context, const Tensor& reference, const Tensor& candidate);

/// How often what a record holds has been through the network: 1 or, of a gradient, 2. A parameter
/// is no product of it; in a single number that sums up all gradients, their norm, errors average
/// out.
int passes_of(const Tensor& tensor);

/// Widens `context` by what other tensors told `part`.
void join(LimitContext& context, const LimitContext& part);

}  // namespace ttcheck::limits
