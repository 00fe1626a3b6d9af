#pragma once
// Distances in units in the last place, and their exact quantiles in bounded memory.

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/model/dtype.hpp"

namespace ttcheck::compare {

/// The dtype whose units count: the coarser of two floating dtypes (of their parts, if complex); of
/// an integer and a floating one the floating one.
DType unit_of(DType a, DType b);

/// How many representable values of `unit` lie between two finite numbers, both rounded to it; of
/// integers |b-a|. Zeros of either sign are one value.
std::uint64_t ulp_distance(DType unit, double a, double b);

/// The quantiles of Detail::ulp_quantiles.
inline constexpr std::array kQuantiles = {0.5, 0.9, 0.99, 1.0};

/// Exact quantiles of any number of distances, seen several times over. The first pass counts them
/// by their leading 11 bits; each further pass counts, for each quantile, the next 16 bits of those
/// distances that begin with the bits found so far. Two passes settle all distances below 2^27.
class UlpSelection {
 public:
  using Counts = std::vector<std::uint64_t>;

  bool done() const { return started_ && open() == 0; }

  /// Zeros, for one thread's share of a pass.
  Counts counts() const;

  void add(std::uint64_t distance, Counts& counts) const;
  void add_zeros(std::int64_t number,
                 Counts& counts) const;  ///< may be negative, to take some back

  /// Ends a pass with the counts of all threads.
  void finish_pass(std::span<const Counts> all);

  /// (quantile, the smallest distance that at least this share does not exceed); empty when nothing
  /// was counted. REQUIRES done().
  std::vector<std::pair<double, std::uint64_t>> quantiles() const;

 private:
  struct Target {
    std::uint64_t prefix = 0;  ///< the distance without its lowest `open` bits
    int open = 0;
    std::uint64_t rank = 0;  ///< it is the rank-th smallest of those that begin so, from 1
  };

  int open() const;
  void start(const Counts& sum);
  void refine(const Counts& sum);

  bool started_ = false;
  std::uint64_t total_ = 0;
  std::array<Target, kQuantiles.size()> targets_{};
};

}  // namespace ttcheck::compare
