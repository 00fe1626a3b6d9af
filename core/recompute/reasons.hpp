// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a report says of calls: which they are, what they state, why they cannot be recomputed.

#include <string>
#include <vector>

#include "core/recompute/graph.hpp"

namespace ttcheck::recompute {

/// "swiglu", or "backward of swiglu in layers.0.mlp.act". REQUIRES a maker.
std::string words_of(const std::vector<Maker>& makers);

/// What two records of one op state differently; empty: nothing.
std::string stated_apart(const Tensor& reference, const Tensor& candidate);

/// What the ops behind two gradients state differently; empty: nothing.
std::string remark_of(const std::vector<Maker>& reference, const std::vector<Maker>& candidate);

/// Why no call is known that made a record; may be empty.
std::string without_maker(const Tensor& record);

/// Whether the format says that there is a weight, and the dump does not have it.
bool lacks_weight(const std::vector<Maker>& makers);

/// Why calls whose makers are known cannot be bound.
std::string unbound(const std::vector<Maker>& reference, const std::vector<Maker>& candidate);

}  // namespace ttcheck::recompute
