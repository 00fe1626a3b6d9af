// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many digits numbers have, by what their fractions end in.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace ttcheck::explain {

/// Counts numbers that are not 0 by the trailing zero bits of their fractions, as doubles.
class Grain {
 public:
  static constexpr int kFraction = 52;

  void add(std::span<const double> values) {
    constexpr std::uint64_t kEnd = std::uint64_t{1} << kFraction;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int zeros = std::countr_zero(std::bit_cast<std::uint64_t>(values[i]) | kEnd);
      counts_[static_cast<std::size_t>(zeros)][i % kTurns] += values[i] != 0 ? 1 : 0;
    }
  }

  /// That all of them have at least; kFraction where there are none.
  int least() const { return at_least(1); }
  /// That half of them do not exceed.
  int middle() const { return at_least((count() + 1) / 2); }

  std::int64_t count() const {
    std::int64_t sum = 0;
    for (std::size_t bits = 0; bits < counts_.size(); ++bits) sum += with(bits);
    return sum;
  }

 private:
  static constexpr std::size_t kTurns = 4;

  std::int64_t with(std::size_t bits) const {
    return std::accumulate(counts_[bits].begin(), counts_[bits].end(), std::int64_t{0});
  }

  int at_least(std::int64_t wanted) const {
    std::int64_t seen = 0;
    for (int bits = 0; bits < kFraction; ++bits) {
      seen += with(static_cast<std::size_t>(bits));
      if (seen >= wanted) return bits;
    }
    return kFraction;
  }

  /// By turns, so that no count waits for the one before.
  std::array<std::array<std::int64_t, kTurns>, kFraction + 1> counts_{};
};

}  // namespace ttcheck::explain
