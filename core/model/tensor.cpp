// SPDX-License-Identifier: Apache-2.0
#include "core/model/tensor.hpp"

#include <algorithm>

namespace ttcheck {

std::vector<std::int32_t> ranks_of(const Tensor& tensor) {
  std::vector<std::int32_t> ranks;
  const auto add = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      if (piece.rank != kNoRank) ranks.push_back(piece.rank);
    }
  };
  add(tensor.pieces);
  add(tensor.replicas);
  for (const auto& term : tensor.terms) add(term);
  for (const auto& term : tensor.term_replicas) add(term);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

bool is_counted(const Tensor& tensor) {
  return tensor.trace && !tensor.trace->counted.base.empty();
}

double divisor_of(const Tensor& tensor) {
  return tensor.mean_of > 0 ? static_cast<double>(tensor.mean_of)
                            : static_cast<double>(tensor.terms.size());
}

std::uint64_t logical_bytes(const Tensor& tensor) {
  try {
    return byte_size(tensor.dtype, element_count(tensor.shape));
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace ttcheck
