// SPDX-License-Identifier: Apache-2.0
#pragma once
// One tensor of two stored states, and what rounding may make of it.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/kind.hpp"
#include "core/model/metrics.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

inline constexpr double kTraining = 1e-3;       ///< from which on weights were trained apart
inline constexpr double kMomentTraining = 0.1;  ///< and moments
inline constexpr double kSpike = 0.017;         ///< of one element, by chance
inline constexpr double kOdd = 10;              ///< times as far as its siblings
inline constexpr double kWayRounding = 1e-3;    ///< part of the way that fp32 made twice

bool is_moment(Kind kind);

/// How far biases of each part (core/limits/siblings.hpp) and their moments were apart between
/// correct runs, where that is more than rounding: by chance.
using BiasesApart = std::map<std::string, double>;

/// Up to which distance two states are one training in other arithmetic.
struct Cuts {
  double weights = 1e-5;  ///< as fp32 makes them twice
  double moments = 1e-4;
  double times = 1;       ///< of what was measured
  double seen = 0;        ///< weights, as far as correct runs were seen to be apart
  double unsure = 1;      ///< so many times further it is not known how far correct runs vary
  bool measured = false;  ///< between correct runs: what is further apart is not correct
  const BiasesApart* biases = nullptr;  ///< measured, too; null: none

  double of(Kind kind) const { return is_moment(kind) ? moments : weights; }
};

/// A tensor of two states that both have, as it was compared.
struct Stored {
  std::string_view name;  ///< the reference's
  Kind kind = Kind::weight;
  std::int64_t count = 0;    ///< elements
  std::int64_t unequal = 0;  ///< of them
  bool equal = false;        ///< bit for bit, or under a cast
  bool disagrees = false;    ///< NaN or Inf on one side alone, which no relation explains
  double rms_apart = 0;      ///< of b - a
  double most_apart = 0;     ///< largest |b - a|; 0: not known
  bool constant = false;     ///< all elements of the reference are the same
  bool bias = false;         ///< it may have begun at zero
  bool mapped = false;       ///< a map made one side, so that both may be rounded from a third
  bool chance = false;       ///< moved along a gradient that is round-off, as its moments show
  bool one_bit = false;      ///< its worst element differs in one bit
  bool sign = false;         ///< and that is its sign, as a step from zero the other way leaves it
  double units = 0;          ///< largest |b - a|, in eps of the larger of the two or, where that is
                             ///< less (as below normal numbers), in units in the last place
  double outlier = std::numeric_limits<double>::infinity();  ///< largest |b - a| / max(|a|, rms of
                                                             ///< A), where it was asked
  double largest = std::numeric_limits<double>::infinity();  ///< largest |b - a| / rms of A
  double eps = 0;                                            ///< of the coarser of the two dtypes
  Moved moved;                                               ///< all zero where equal
  std::optional<WaySince> way;                               ///< where an ancestor has it

  /// Whether it may show that the states are copies.
  bool tells() const { return !constant && !mapped; }
};

/// Whether an unequal tensor of a copy may be what rounding makes: each element is turned by one
/// unit, several by one or two, or many by little, all over the tensor. Damage is larger, or in one
/// place.
bool may_be_rounding(const Stored& one, const Cuts& cuts);

/// Whether an optimizer that steps by signs may have taken some of its elements the other way since
/// an ancestor: none is further apart than twice the longest way that one came on both sides.
bool may_be_steps(const Stored& one);

/// Whether all that it differs by may be elements of a bias that went the other way: few, and no
/// further than `step`, |b - a| of elements of other tensors.
bool may_be_turned(const Stored& one, double step);

/// What every tensor is held to at least: the mean to what fp32 or correct runs leave and what one
/// turned element of the store makes, runs and elements to what an update along a gradient that is
/// round-off makes.
Moved least_moved(const Stored& one, const Cuts& cuts);

/// How far a tensor may be apart where its states are: where an ancestor tells, by its way alone;
/// where repeats were measured, by them.
double least_apart(const Stored& one, const Cuts& cuts);

/// The median of values, each counted by its weight (the second number); 0 without any.
double weighted_median(std::vector<std::pair<double, double>> values);

}  // namespace ttcheck::limits
