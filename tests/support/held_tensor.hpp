// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor of which nothing says how its ranks hold it.

#include <deque>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::tests {

/// Rank r holds an array of `shape`, the numbers by_rank[r].
class HeldTensor {
 public:
  HeldTensor(const Shape& shape, const std::vector<std::vector<float>>& by_rank) {
    tensor.dtype = DType::f32;
    tensor.shape = shape;
    tensor.undeclared = true;
    for (const std::vector<float>& numbers : by_rank) {
      Piece piece;
      piece.source = &sources_.emplace_back(ArraySource::of(numbers));
      piece.dtype = DType::f32;
      piece.rank = static_cast<std::int32_t>(sources_.size()) - 1;
      (piece.rank == 0 ? tensor.pieces : tensor.replicas).push_back(piece);
    }
  }

  Tensor tensor;

 private:
  std::deque<ArraySource> sources_;
};

}  // namespace ttcheck::tests
