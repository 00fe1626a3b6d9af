// SPDX-License-Identifier: Apache-2.0
#pragma once
// One dimension of one rank's array: which local indices are which logical ones.

#include <cstdint>
#include <vector>

#include "core/assemble/plan.hpp"

namespace ttcheck::assemble {

/// `size` indices from `local` of the array are those from `global` of the tensor.
struct Stretch {
  std::int64_t local = 0;
  std::int64_t global = 0;
  std::int64_t size = 0;
};

/// Logical indices of `ranges` in storage order, those from `length` on being padding; padding
/// takes room in the array where `padded`.
std::vector<Stretch> stretches(const Ranges& ranges, std::int64_t length, bool padded);

/// Indices that are no padding.
std::int64_t total(const std::vector<Stretch>& list);

/// Per dimension the stretches at coordinates `at`. A `shape` (null: none is known) is checked: it
/// has room for what lies there, with or without padding. Throws Error when it does not match.
std::vector<std::vector<Stretch>> grid(const Extents& at, const Plan& plan, const Shape* shape);

/// The array's shape at `at`, padding included.
Shape padded_shape(const Extents& at, const Plan& plan);

/// A box of the array, and where it starts in the tensor.
struct Placed {
  Box local;
  Extents global;
};

/// All combinations of one stretch a dimension, the last dimension fastest. Throws Error when there
/// are more than kMaxCells.
std::vector<Placed> product(const std::vector<std::vector<Stretch>>& dims);

/// No more cells than this for one piece.
inline constexpr std::size_t kMaxCells = std::size_t{1} << 18;

}  // namespace ttcheck::assemble
