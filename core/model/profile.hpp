// SPDX-License-Identifier: Apache-2.0
#pragma once
// One tensor looked at closely, alone or as a pair: what it is made of, and where inside it the
// error lies. Indices are row-major linear ones of the logical tensor; -1 where there is none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck {

/// Sums over some elements. Places that are not finite on both sides count, but add nothing to
/// `a2`, `d2` and `largest`.
struct Sums {
  std::int64_t count = 0;
  std::int64_t unequal = 0;     ///< of a pair: values that are not the same
  std::int64_t non_finite = 0;  ///< NaN or infinite on either side
  std::int64_t disagree = 0;    ///< of a pair: NaN or infinity on one side, or another one
  double a2 = 0, d2 = 0;        ///< of A (or the only tensor), and of B - A
  double largest = 0;           ///< |b-a| of a pair, |a| of one tensor

  void add(const Sums& other);
};

/// Values of one side. Of complex numbers: of their absolute values.
struct ValueStats {
  std::int64_t finite = 0, zeros = 0;
  std::int64_t nan = 0, plus_inf = 0, minus_inf = 0;
  std::int64_t first_nan = -1, first_plus_inf = -1, first_minus_inf = -1;
  double least = 0, most = 0;  ///< of finite ones; the lowest index on ties
  std::int64_t least_index = -1, most_index = -1;
  double mean = 0;
  double m2 = 0;  ///< sum of squared distances from the mean
  double sum2 = 0;

  double deviation() const;  ///< of the population; 0 without finite values
  double rms() const;
  void add(const ValueStats& next);  ///< `next` has higher indices
};

/// Elements by the size of what they hold: bin k counts those in [2^(lowest + k), 2^(lowest + k +
/// 1)); the first bin has all that is smaller, too, and the last all that is larger.
struct PowerHistogram {
  int lowest = 0;
  double unit = 1;  ///< sizes were divided by it first
  std::int64_t zeros = 0, non_finite = 0;
  std::vector<std::int64_t> bins;           ///< of one tensor: of values above 0
  std::vector<std::int64_t> negative_bins;  ///< of one tensor: of values below 0; else empty
};

/// Slices across one dimension, `slices_per_bin` of them at a time.
struct AxisProfile {
  std::string name;     ///< "row" "column" "position" "head" "expert", a dim's name, "dim 2"
  std::size_t dim = 0;  ///< of the tensor
  std::int64_t slices_per_bin = 1;
  std::int64_t extent = 0;  ///< slices
  std::vector<Sums> bins;
};

/// The last dimension against all others as one, in equal blocks.
struct BlockProfile {
  std::int64_t rows = 0, columns = 0;              ///< of the tensor, seen so
  std::int64_t block_rows = 0, block_columns = 0;  ///< elements of one block
  std::int64_t down = 0, across = 0;               ///< blocks
  std::vector<Sums> blocks;                        ///< row-major
};

/// One element.
struct ProfiledElement {
  std::int64_t index = -1;
  std::array<double, 2> a{}, b{};  ///< value, and imaginary part of complex ones; b of pairs
  double difference = 0;           ///< |b-a|; nan where it has none
  std::optional<std::uint64_t> ulp;
  std::vector<std::int32_t> ranks;  ///< that hold it (of a pair: in the candidate)
  std::optional<Where> where, reference_where;
};

/// Within `share` of the whole d^2, or of elements that disagree: the narrowest run of bins of one
/// axis that has it.
struct Confinement {
  std::size_t axis = 0;              ///< index of the profile's axes
  std::int64_t first = 0, last = 0;  ///< slices, ends included
  double share = 0;                  ///< of the error
};

struct Profile {
  bool pair = false;
  Sums all;
  std::vector<ValueStats> sides;  ///< of the only tensor, or of reference and candidate
  std::vector<AxisProfile> axes;
  std::optional<BlockProfile> blocks;     ///< of two dimensions or more
  PowerHistogram histogram;               ///< of values, or of |b-a| over the rms of A
  std::vector<ProfiledElement> elements;  ///< the largest |b-a| (|a|) first; disagreements before
  std::optional<Confinement> confined;
};

/// How wrong a bin is: |d| over the larger of its own |a| and what is usual for as many elements of
/// the tensor; infinite where NaN or infinity disagree. Of one tensor: its rms.
double bin_error(const Sums& bin, const Profile& profile);

}  // namespace ttcheck
