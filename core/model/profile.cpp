// SPDX-License-Identifier: Apache-2.0
#include "core/model/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ttcheck {

void Sums::add(const Sums& other) {
  count += other.count;
  unequal += other.unequal;
  non_finite += other.non_finite;
  disagree += other.disagree;
  a2 += other.a2;
  d2 += other.d2;
  largest = std::max(largest, other.largest);
}

double ValueStats::deviation() const {
  return finite > 0 ? std::sqrt(m2 / static_cast<double>(finite)) : 0;
}

double ValueStats::rms() const {
  return finite > 0 ? std::sqrt(sum2 / static_cast<double>(finite)) : 0;
}

void ValueStats::add(const ValueStats& next) {
  if (finite == 0) {
    mean = next.mean;
    m2 = next.m2;
  } else if (next.finite > 0) {  // Chan, Golub and LeVeque
    const auto own = static_cast<double>(finite);
    const auto other = static_cast<double>(next.finite);
    const double apart = next.mean - mean;
    mean += apart * (other / (own + other));
    m2 += next.m2 + apart * apart * (own * (other / (own + other)));
  }
  if (next.least_index >= 0 && (least_index < 0 || next.least < least)) {
    least = next.least;
    least_index = next.least_index;
  }
  if (next.most_index >= 0 && (most_index < 0 || next.most > most)) {
    most = next.most;
    most_index = next.most_index;
  }
  const auto first = [](std::int64_t& mine, std::int64_t other) {
    if (mine < 0) mine = other;
  };
  first(first_nan, next.first_nan);
  first(first_plus_inf, next.first_plus_inf);
  first(first_minus_inf, next.first_minus_inf);
  finite += next.finite;
  zeros += next.zeros;
  nan += next.nan;
  plus_inf += next.plus_inf;
  minus_inf += next.minus_inf;
  sum2 += next.sum2;
}

double bin_error(const Sums& bin, const Profile& profile) {
  const auto finite = static_cast<double>(bin.count - bin.non_finite);
  if (!profile.pair) return finite > 0 ? std::sqrt(bin.a2 / finite) : 0;
  if (bin.disagree > 0) return std::numeric_limits<double>::infinity();
  if (bin.d2 == 0) return 0;
  const auto all = static_cast<double>(profile.all.count - profile.all.non_finite);
  const double usual = profile.all.a2 / all * finite;
  return std::sqrt(bin.d2 / std::max(bin.a2, usual));
}

}  // namespace ttcheck
