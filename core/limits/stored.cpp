// SPDX-License-Identifier: Apache-2.0
#include "core/limits/stored.hpp"

#include <algorithm>

#include "core/model/dtype.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kRunApart = 1e-3;  // of 512 elements, by chance
constexpr std::int64_t kMany = 16;  // elements that chance spreads
constexpr int kParts = 8;           // over so many of sixteen parts

/// The distance that one element makes which the store turned by one unit.
double flip_of(const Stored& one) {
  return one.eps / static_cast<double>(std::max<std::int64_t>(one.count, 1));
}

}  // namespace

bool is_moment(Kind kind) {
  return kind == Kind::moment1 || kind == Kind::moment2 || kind == Kind::momentum;
}

bool may_be_rounding(const Stored& one, const Cuts& cuts) {
  constexpr std::int64_t kSeveral = 4;
  constexpr double kUnits = 16;
  if (one.units <= 1) return true;
  // A value was turned by one unit when it was as large as a usual one, which is several of its own
  // now. Where one value alone differs in one bit, half of that: a flipped bit looks the same.
  const double most = one.unequal == 1 && one.one_bit ? one.eps / 2 : one.eps;
  if (one.units <= kUnits && one.outlier <= most) return true;
  if (one.unequal >= kSeveral && one.outlier <= 2 * one.eps) return true;
  const bool many = one.unequal >= std::max(kMany, one.count / 100);
  return many && one.moved.parts >= kParts &&
         one.moved.distance <= least_moved(one, cuts).distance && one.outlier <= kSpike;
}

bool may_be_steps(const Stored& one) {
  constexpr double kThere = 2;  // one side went as far as the other, the other way
  if (!one.way || one.one_bit) return false;
  const bool spread = one.unequal < kMany || one.moved.parts >= kParts;
  const double most = kThere * (one.way->longest + one.eps);
  return spread && one.largest <= most && one.outlier <= kOdd * kSpike;
}

bool may_be_turned(const Stored& one, double step) {
  constexpr double kFew = 0.25;  // of its elements
  const bool flipped = one.one_bit && !one.sign;
  if (!one.bias || is_moment(one.kind) || flipped || !(one.most_apart > 0)) return false;
  const double as_one = one.rms_apart / one.most_apart;  // squared, the part that differs by most
  return as_one * as_one <= kFew && one.most_apart <= step;
}

Moved least_moved(const Stored& one, const Cuts& cuts) {
  const double way = one.way ? kWayRounding * one.way->gone : 0;
  const double usual = std::max(Cuts().of(one.kind), cuts.of(one.kind) / cuts.times);
  return {std::max({usual, flip_of(one), way}), std::max(kRunApart, one.eps),
          std::max(kSpike, one.eps), 0};
}

double least_apart(const Stored& one, const Cuts& cuts) {
  if (cuts.measured) return std::max(flip_of(one), cuts.of(one.kind));
  if (!one.way || is_moment(one.kind)) return least_moved(one, cuts).distance;
  return std::max({flip_of(one), epsilon(DType::f32), kWayRounding * one.way->gone});
}

double weighted_median(std::vector<std::pair<double, double>> values) {
  std::ranges::sort(values);
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (2 * below >= all) return value;
  }
  return 0;
}

}  // namespace ttcheck::limits
