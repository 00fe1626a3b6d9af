#pragma once
// Distances in units in the last place, and their exact quantiles in bounded memory.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/wide.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::compare {

/// The dtype whose units count: the coarser of two floating dtypes; of an integer and a floating one
/// the floating one; complex dtypes count by the larger distance of their parts.
DType unit_of(DType a, DType b);

/// Number of representable values of `unit` between two finite numbers, both rounded to it; of
/// integers |b-a|. Zeros of either sign are the same.
std::uint64_t ulp_distance(DType unit, double a, double b);

/// The quantiles listed by Detail::ulp_quantiles.
inline constexpr std::array kQuantiles = {0.5, 0.9, 0.99, 1.0};

/// Selection by digits: each pass counts, for each quantile, the next 16 bits of the distances that
/// share the bits found so far. After four passes (fewer while the upper bits are all zero) the
/// quantiles are exact: the smallest distance that at least that share of elements does not exceed.
class UlpSelection {
 public:
  using Counts = std::vector<std::uint64_t>;  ///< kQuantiles.size() x 65536, or less where shared

  bool done() const { return shift_ < 0; }

  /// Empty counts for one part of a pass.
  Counts counts() const;

  /// Adds one distance; may be called by several threads on counts of their own.
  void add(std::uint64_t distance, Counts& counts) const;

  /// Ends a pass with the sum of all its counts.
  void finish_pass(const Counts& counts);

  /// REQUIRES done(). Empty when there was nothing to count.
  std::vector<std::pair<double, std::uint64_t>> quantiles() const;

 private:
  struct Target {
    std::uint64_t prefix = 0;  ///< bits found so far
    std::uint64_t rank = 0;    ///< number of smaller-or-equal distances still to pass, from 1
  };

  int shift_ = 48;
  bool started_ = false;
  std::array<Target, kQuantiles.size()> targets_{};
  std::uint64_t total_ = 0;
};

}  // namespace ttcheck::compare
