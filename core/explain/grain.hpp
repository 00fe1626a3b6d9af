// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many digits numbers have, by what their fractions end in.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>

namespace ttcheck::explain {

/// Counts numbers that are not 0 by the trailing zero bits of their fractions, as doubles.
class Grain {
 public:
  static constexpr int kFraction = 52;

  void add(double value) {
    if (value == 0) return;
    constexpr std::uint64_t kEnd = std::uint64_t{1} << kFraction;
    ++counts_[static_cast<std::size_t>(
        std::countr_zero(std::bit_cast<std::uint64_t>(value) | kEnd))];
  }

  /// That all of them have at least; kFraction where there are none.
  int least() const { return at_least(1); }
  /// That half of them do not exceed.
  int middle() const { return at_least((count() + 1) / 2); }

  std::int64_t count() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  }

 private:
  int at_least(std::int64_t wanted) const {
    std::int64_t seen = 0;
    for (int bits = 0; bits < kFraction; ++bits) {
      seen += counts_[static_cast<std::size_t>(bits)];
      if (seen >= wanted) return bits;
    }
    return kFraction;
  }

  std::array<std::int64_t, kFraction + 1> counts_{};
};

}  // namespace ttcheck::explain
