// SPDX-License-Identifier: Apache-2.0
#pragma once
// Distances in units in the last place, and their exact quantiles in bounded memory.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/kernel.hpp"
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

/// How the kernels count steps of `unit` between floats of these dtypes, if they can: of f32, bf16
/// and f16, and of smaller floats where nothing needs rounding.
std::optional<UnitFormat> unit_format(DType unit, DType a, DType b);

/// Exact quantiles of any number of distances, seen once or several times over. Few are kept. Of
/// more, the first pass counts them by their leading bits (14, or 17 for units of at most 16 bits,
/// which is all); each further pass counts, for each quantile, the next 18 bits of those distances
/// that begin with the bits found so far. Two passes settle all distances below 2^32.
class UlpSelection {
 public:
  /// Selects from up to `count` distances in units of `unit`.
  UlpSelection(DType unit, std::int64_t count, const Kernels& isa);

  /// One thread's share of a pass.
  struct Counts {
    std::int64_t zeros = 0;     ///< beside those in `bins`; negative where some were taken back
    std::uint64_t largest = 0;  ///< of the first pass
    std::vector<std::uint64_t> bins;  ///< of few, the distances themselves
  };

  bool done() const { return started_ && open() == 0; }

  void add(std::uint64_t distance, Counts& counts) const;
  void add(std::span<const std::uint32_t> distances, Counts& counts) const;

  /// `count` distances of which a census tells all: none is above 3. REQUIRES takes_census().
  void add(const Census& census, std::size_t count, Counts& counts) const;
  bool takes_census() const { return !few_ && !started_; }

  /// Ends a pass with the counts of all threads, which are used up.
  void finish_pass(std::span<Counts> all);

  /// (quantile, the smallest distance that at least this share does not exceed); empty when nothing
  /// was counted. REQUIRES done().
  std::vector<std::pair<double, std::uint64_t>> quantiles() const;

 private:
  struct Target {
    std::uint64_t prefix = 0;  ///< the distance without its lowest `open` bits
    int open = 0;
    std::uint64_t rank = 0;       ///< it is the rank-th smallest of those that begin so, from 1
    std::size_t first_digit = 0;  ///< its bins in the next pass
  };

  int open() const;
  std::size_t first_bin(std::uint64_t distance) const;
  void reserve_first(std::uint64_t largest, Counts& counts) const;
  void add_first(std::span<const std::uint32_t> distances, Counts& counts) const;
  void add_digit(std::uint64_t distance, Counts& counts) const;
  void add_digits(std::span<const std::uint32_t> distances, Counts& counts) const;
  void rank();
  void pick(const Counts& sum);
  void start(Counts sum);
  void refine(const std::vector<std::uint64_t>& sum);
  void place_digits();

  const Kernels* isa_;
  bool few_;
  int leading_;  ///< bits below the highest one that the first pass tells apart
  bool started_ = false;
  std::uint64_t total_ = 0;
  std::array<Target, kQuantiles.size()> targets_{};
  std::size_t digit_bins_ = 0;
};

}  // namespace ttcheck::compare
