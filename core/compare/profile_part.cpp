// SPDX-License-Identifier: Apache-2.0
// A stretch is walked row by row: along a row all axes but the last stand still, so that a row's
// sums go to one bin each, and only the last axis and the blocks cut it further.

#include "core/compare/profile_part.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

// What ProfiledValues::taken says of an element.
constexpr std::uint8_t kFinite = 0, kNonFinite = 1, kDisagrees = 2, kAbsent = kProfileAbsent;

/// |b-a| of 64-bit integers, which doubles do not tell apart.
void subtract_integers(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b,
                       int count, ProfiledValues& values) {
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a.data() + 8 * at, sizeof x);
    std::memcpy(&y, b.data() + 8 * at, sizeof y);
    const bool less =
        dtype == DType::u64 ? x < y : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    values.d[at] = static_cast<double>(less ? y - x : x - y);
  }
}

void decode_side(DType dtype, std::span<const std::byte> bytes, int count,
                 std::array<double, 2 * kProfileBlock>& parts,
                 std::array<double, kProfileBlock>& size) {
  to_doubles(dtype, bytes.data(), count, parts.data());
  const auto n = static_cast<std::size_t>(count);
  if (!is_complex(dtype)) {
    std::copy_n(parts.begin(), n, size.begin());
    return;
  }
  for (std::size_t i = 0; i < n; ++i) size[i] = std::hypot(parts[2 * i], parts[2 * i + 1]);
}

/// NaN is like NaN, an infinity like itself.
bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

bool finite_at(const std::array<double, 2 * kProfileBlock>& parts, bool is_pair, std::size_t i) {
  if (!is_pair) return std::isfinite(parts[i]);
  return std::isfinite(parts[2 * i]) && std::isfinite(parts[2 * i + 1]);
}

int exponent_of(double size) {
  const auto bits = std::bit_cast<std::uint64_t>(size);
  constexpr int kMantissa = 52;
  constexpr int kBias = 1023;
  return static_cast<int>((bits >> kMantissa) & 0x7ff) - kBias;
}

std::int64_t& bin_of(PowerHistogram& histogram, std::vector<std::int64_t>& bins, double size) {
  const int bin =
      std::clamp(exponent_of(size) - histogram.lowest, 0, static_cast<int>(bins.size()) - 1);
  return bins[static_cast<std::size_t>(bin)];
}

/// The worst first: disagreements in their order, then by size; the lowest index on ties.
bool worse(const ProfiledElement& x, const ProfiledElement& y) {
  const bool x_apart = std::isnan(x.difference);
  const bool y_apart = std::isnan(y.difference);
  if (x_apart != y_apart) return x_apart;
  if (!x_apart && x.difference != y.difference) return x.difference > y.difference;
  return x.index < y.index;
}

void count_value(ValueStats& stats, double value, std::int64_t index) {
  const auto note = [&](std::int64_t& count, std::int64_t& first) {
    if (count++ == 0) first = index;
  };
  if (std::isnan(value)) return note(stats.nan, stats.first_nan);
  if (std::isinf(value)) {
    return value > 0 ? note(stats.plus_inf, stats.first_plus_inf)
                     : note(stats.minus_inf, stats.first_minus_inf);
  }
  ++stats.finite;
  if (value == 0) ++stats.zeros;
  if (stats.least_index < 0 || value < stats.least) {
    stats.least = value;
    stats.least_index = index;
  }
  if (stats.most_index < 0 || value > stats.most) {
    stats.most = value;
    stats.most_index = index;
  }
  stats.mean += value;  // the sum, until the block is whole
  stats.sum2 += value * value;
}

ValueStats stats_of(const ProfiledValues& values, std::size_t side, bool is_pair,
                    std::int64_t base) {
  ValueStats stats;
  const auto& parts = values.parts.at(side);
  const auto value = [&](std::size_t i) {
    if (!is_pair) return parts[i];
    const bool nan = std::isnan(parts[2 * i]) || std::isnan(parts[2 * i + 1]);
    return nan ? std::numeric_limits<double>::quiet_NaN()
               : std::hypot(parts[2 * i], parts[2 * i + 1]);
  };
  const auto count = static_cast<std::size_t>(values.count);
  for (std::size_t i = 0; i < count; ++i) {
    if (values.taken[i] == kAbsent) continue;
    count_value(stats, value(i), base + static_cast<std::int64_t>(i));
  }
  if (stats.finite == 0) return stats;
  stats.mean /= static_cast<double>(stats.finite);
  for (std::size_t i = 0; i < count; ++i) {
    if (values.taken[i] == kAbsent) continue;
    const double apart = value(i) - stats.mean;
    if (std::isfinite(apart)) stats.m2 += apart * apart;
  }
  return stats;
}

}  // namespace

void decode_values(DType a_dtype, std::span<const std::byte> a, DType b_dtype,
                   std::span<const std::byte> b, int count, ProfiledValues& values) {
  values.count = count;
  const bool pair = !b.empty();
  decode_side(a_dtype, a, count, values.parts[0], values.a);
  if (pair) decode_side(b_dtype, b, count, values.parts[1], values.b);
  const auto n = static_cast<std::size_t>(count);
  const bool wide = a_dtype == b_dtype && (a_dtype == DType::i64 || a_dtype == DType::u64);
  if (!pair) {
    for (std::size_t i = 0; i < n; ++i) values.d[i] = 0;
  } else if (wide) {
    subtract_integers(a_dtype, a, b, count, values);
  } else if (is_complex(a_dtype)) {
    for (std::size_t i = 0; i < n; ++i) {
      values.d[i] = std::hypot(values.parts[1][2 * i] - values.parts[0][2 * i],
                               values.parts[1][2 * i + 1] - values.parts[0][2 * i + 1]);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) values.d[i] = std::fabs(values.b[i] - values.a[i]);
  }
  const std::size_t parts = is_complex(a_dtype) ? 2 : 1;
  for (std::size_t i = 0; i < n; ++i) {
    values.taken[i] = kFinite;
    const bool both = finite_at(values.parts[0], parts == 2, i) &&
                      (!pair || finite_at(values.parts[1], parts == 2, i));
    if (both) continue;
    bool alike = true;
    for (std::size_t p = 0; pair && p < parts; ++p) {
      const double x = values.parts[0][parts * i + p];
      const double y = values.parts[1][parts * i + p];
      alike = alike && (same(x, y) || (std::isfinite(x) && std::isfinite(y)));
    }
    values.taken[i] = alike ? kNonFinite : kDisagrees;
    values.a[i] = values.b[i] = values.d[i] = 0;
  }
}

ProfilePart::ProfilePart(const ProfileFrame& frame, std::int64_t begin)
    : frame_(frame), at_(begin), shape_(frame.shape), profile_(frame.empty) {
  if (shape_.empty()) shape_ = {1};
  index_ = begin == 0 ? Extents(shape_.size(), 0) : unravel(shape_, begin);
}

Sums ProfilePart::sums_of(const ProfiledValues& values, int from, int to) const {
  Sums sums;
  const auto& size = frame_.pair ? values.d : values.a;
  for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
    const std::uint8_t taken = values.taken[i];
    if (taken == kAbsent) continue;
    ++sums.count;
    if (taken != kFinite) {
      ++sums.non_finite;
      if (taken == kDisagrees) {
        ++sums.disagree;
        ++sums.unequal;
      }
    }  // what is not finite stands as 0
    sums.a2 += values.a[i] * values.a[i];
    sums.d2 += values.d[i] * values.d[i];
    sums.unequal += values.d[i] != 0 ? 1 : 0;
    sums.largest = std::max(sums.largest, std::fabs(size[i]));
  }
  return sums;
}

void ProfilePart::add_run(const ProfiledValues& values, int from, int to) {
  const std::int64_t column = index_.back();
  const std::int64_t length = to - from;
  const auto cut = [&](std::int64_t width, const auto& add) {
    for (std::int64_t at = column; at < column + length;) {
      const std::int64_t end = std::min((at / width + 1) * width, column + length);
      add(static_cast<std::size_t>(at / width),
          sums_of(values, from + static_cast<int>(at - column),
                  from + static_cast<int>(end - column)));
      at = end;
    }
  };
  const Sums all = sums_of(values, from, to);
  profile_.all.add(all);
  for (AxisProfile& axis : profile_.axes) {
    if (axis.dim + 1 < shape_.size()) {
      axis.bins[static_cast<std::size_t>(index_[axis.dim] / axis.slices_per_bin)].add(all);
    } else {
      cut(axis.slices_per_bin,
          [&](std::size_t bin, const Sums& sums) { axis.bins[bin].add(sums); });
    }
  }
  if (!profile_.blocks) return;
  BlockProfile& blocks = *profile_.blocks;
  const std::int64_t row = at_ / std::max<std::int64_t>(blocks.columns, 1) / blocks.block_rows;
  cut(blocks.block_columns, [&](std::size_t across, const Sums& sums) {
    blocks.blocks[static_cast<std::size_t>(row * blocks.across) + across].add(sums);
  });
}

void ProfilePart::add_histogram(const ProfiledValues& values) {
  PowerHistogram& histogram = profile_.histogram;
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.count); ++i) {
    if (values.taken[i] == kAbsent) continue;
    if (values.taken[i] != kFinite) {
      ++histogram.non_finite;
      continue;
    }
    const double size = frame_.pair ? values.d[i] / frame_.unit : values.a[i];
    if ((frame_.pair ? values.d[i] : size) == 0) {
      ++histogram.zeros;
    } else if (size < 0) {
      ++bin_of(histogram, histogram.negative_bins, size);
    } else {
      ++bin_of(histogram, histogram.bins, size);
    }
  }
}

void ProfilePart::add_sides(const ProfiledValues& values) {
  profile_.sides[0].add(stats_of(values, 0, frame_.complex_a, at_));
  if (frame_.pair) profile_.sides[1].add(stats_of(values, 1, frame_.complex_b, at_));
}

void ProfilePart::keep(const ProfiledElement& element) {
  auto& kept = profile_.elements;
  if (kept.size() == frame_.top && !worse(element, kept.back())) return;
  kept.insert(std::ranges::upper_bound(kept, element, worse), element);
  if (kept.size() > frame_.top) kept.pop_back();
}

void ProfilePart::add_elements(const ProfiledValues& values) {
  if (frame_.top == 0) return;
  const auto& kept = profile_.elements;
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.count); ++i) {
    const std::uint8_t taken = values.taken[i];
    if (taken == kAbsent || taken == kNonFinite) continue;
    const bool disagrees = taken == kDisagrees;
    const double size = frame_.pair ? values.d[i] : std::fabs(values.a[i]);
    if (!disagrees &&
        (size == 0 || (kept.size() == frame_.top && !(size > kept.back().difference)))) {
      continue;
    }
    ProfiledElement element;
    element.index = at_ + static_cast<std::int64_t>(i);
    element.difference = disagrees ? std::numeric_limits<double>::quiet_NaN() : size;
    const auto fill = [&](std::array<double, 2>& value, std::size_t side, bool is_pair) {
      const auto& parts = values.parts.at(side);
      value = is_pair ? std::array{parts[2 * i], parts[2 * i + 1]} : std::array{parts[i], 0.0};
    };
    fill(element.a, 0, frame_.complex_a);
    if (frame_.pair) fill(element.b, 1, frame_.complex_b);
    keep(element);
  }
}

void ProfilePart::advance(std::int64_t by) {
  at_ += by;
  index_.back() += by;
  for (std::size_t dim = shape_.size() - 1; dim > 0 && index_[dim] >= shape_[dim]; --dim) {
    index_[dim] = 0;
    ++index_[dim - 1];
  }
}

void ProfilePart::add(const ProfiledValues& values) {
  add_sides(values);
  add_histogram(values);
  add_elements(values);
  for (int from = 0; from < values.count;) {
    const auto left = static_cast<int>(
        std::min<std::int64_t>(values.count - from, shape_.back() - index_.back()));
    add_run(values, from, from + left);
    advance(left);
    from += left;
  }
}

void ProfilePart::append(const ProfilePart& next) {
  const auto add_bins = [](std::vector<Sums>& mine, const std::vector<Sums>& other) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i].add(other[i]);
  };
  const auto add_counts = [](std::vector<std::int64_t>& mine,
                             const std::vector<std::int64_t>& other) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += other[i];
  };
  const Profile& other = next.profile_;
  profile_.all.add(other.all);
  for (std::size_t i = 0; i < profile_.sides.size(); ++i) profile_.sides[i].add(other.sides[i]);
  for (std::size_t i = 0; i < profile_.axes.size(); ++i) {
    add_bins(profile_.axes[i].bins, other.axes[i].bins);
  }
  if (profile_.blocks) add_bins(profile_.blocks->blocks, other.blocks->blocks);
  profile_.histogram.zeros += other.histogram.zeros;
  profile_.histogram.non_finite += other.histogram.non_finite;
  add_counts(profile_.histogram.bins, other.histogram.bins);
  add_counts(profile_.histogram.negative_bins, other.histogram.negative_bins);
  for (const ProfiledElement& element : other.elements) keep(element);
}

}  // namespace ttcheck::compare
