// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two tensors that are compared with each other.

#include <compare>

#include "core/model/tensor.hpp"
#include "core/model/value_map.hpp"

namespace ttcheck::compare {

/// What |b-a| of one element is held to: atol + rtol |a|.
struct Tolerance {
  double rtol = 0, atol = 0;

  auto operator<=>(const Tolerance&) const = default;
};

/// REQUIRES equal shapes. A tolerance, where given, is used for max_quotient; else for nothing.
/// Values of a side are compared as its map makes them, where it has one; replicas as they are.
struct Pair {
  const Tensor* reference = nullptr;
  const Tensor* candidate = nullptr;
  const Tolerance* tolerance = nullptr;
  const ValueMap* reference_map = nullptr;
  const ValueMap* candidate_map = nullptr;

  bool mapped() const { return reference_map != nullptr || candidate_map != nullptr; }
};

}  // namespace ttcheck::compare
