// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranges of a pair as doubles, for what is told from a few of its elements.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/compare/pair.hpp"

namespace ttcheck::compare {

/// Both sides are stored whole, and real.
bool has_real_values(const Pair& pair);

/// All elements of both sides, where they are at hand.
struct WholeBytes {
  std::span<const std::byte> reference, candidate;
};

/// REQUIRES has_real_values. What a call gives stands until the next one for the same side; the
/// values are those after the side's map. Throws Error.
class PairValues {
 public:
  explicit PairValues(const Pair& pair, const WholeBytes& at_hand = {})
      : pair_(pair), at_hand_(at_hand) {}

  /// REQUIRES `begin` to be a multiple of 8.
  std::span<const double> reference(std::int64_t begin, std::int64_t count);
  std::span<const double> candidate(std::int64_t begin, std::int64_t count);

 private:
  std::span<const double> read(const Tensor& tensor, const ValueMap* map,
                               std::span<const std::byte> at_hand, std::int64_t begin,
                               std::int64_t count, std::vector<double>& values);

  const Pair& pair_;
  WholeBytes at_hand_;
  std::vector<std::byte> bytes_;
  std::vector<double> a_, b_;
};

}  // namespace ttcheck::compare
