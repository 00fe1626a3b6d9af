// SPDX-License-Identifier: Apache-2.0
#include "core/compare/profile_part.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/stored_values.hpp"

namespace ttcheck::compare {
namespace {

using tests::stored_values;

using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// The numbers that a tensor is made of, and places that are no part of it.
struct Drawn {
  DType dtype_a = DType::f64, dtype_b = DType::f64;
  bool pair = true;
  Doubles a, b;  ///< two for each element of a complex dtype
  std::vector<std::int64_t> absent;

  std::size_t parts(DType dtype) const { return is_complex(dtype) ? 2 : 1; }
  std::int64_t count() const { return static_cast<std::int64_t>(a.size() / parts(dtype_a)); }
};

Doubles part_of_values(const Doubles& all, std::size_t parts, std::int64_t begin,
                       std::int64_t end) {
  return {all.begin() + begin * static_cast<std::ptrdiff_t>(parts),
          all.begin() + end * static_cast<std::ptrdiff_t>(parts)};
}

/// Elements [begin, end), decoded.
void decode(const Drawn& numbers, std::int64_t begin, std::int64_t end, ProfiledValues& values) {
  const auto stored = [&](DType dtype, const Doubles& all) {
    return stored_values(dtype, part_of_values(all, numbers.parts(dtype), begin, end));
  };
  const auto a = stored(numbers.dtype_a, numbers.a);
  const auto b = numbers.pair ? stored(numbers.dtype_b, numbers.b) : std::vector<std::byte>{};
  decode_values(numbers.dtype_a, a, numbers.dtype_b, b, static_cast<int>(end - begin), values);
  for (const std::int64_t at : numbers.absent) {
    if (at < begin || at >= end) continue;
    const auto i = static_cast<std::size_t>(at - begin);
    values.taken[i] = kProfileAbsent;
    values.a[i] = values.b[i] = values.d[i] = 0;
  }
}

struct Cut {
  std::size_t dim = 0;
  std::int64_t slices_per_bin = 1;
};

ProfileFrame frame_of(const Drawn& numbers, const Shape& shape, const std::vector<Cut>& cuts,
                      std::int64_t block_rows, std::int64_t block_columns, std::size_t top) {
  ProfileFrame frame;
  frame.shape = shape;
  frame.pair = numbers.pair;
  frame.complex_a = is_complex(numbers.dtype_a);
  frame.complex_b = numbers.pair && is_complex(numbers.dtype_b);
  frame.unit = 4;
  frame.top = top;
  Profile& empty = frame.empty;
  empty.pair = numbers.pair;
  empty.sides.resize(numbers.pair ? 2 : 1);
  for (const Cut& cut : cuts) {
    AxisProfile axis{"axis", cut.dim, cut.slices_per_bin, shape[cut.dim], {}};
    axis.bins.resize(
        static_cast<std::size_t>((axis.extent + axis.slices_per_bin - 1) / axis.slices_per_bin));
    empty.axes.push_back(axis);
  }
  if (block_rows > 0) {
    BlockProfile blocks;
    blocks.columns = shape.back();
    blocks.rows = element_count(shape) / shape.back();
    blocks.block_rows = block_rows;
    blocks.block_columns = block_columns;
    blocks.down = (blocks.rows + block_rows - 1) / block_rows;
    blocks.across = (blocks.columns + block_columns - 1) / block_columns;
    blocks.blocks.resize(static_cast<std::size_t>(blocks.down * blocks.across));
    empty.blocks = blocks;
  }
  empty.histogram.lowest = -3;
  empty.histogram.bins.resize(7);
  if (!numbers.pair && !frame.complex_a) empty.histogram.negative_bins.resize(7);
  return frame;
}

/// All that a profile tells, element by element from its definition.
class Definition {
 public:
  Definition(const ProfileFrame& frame, const Drawn& numbers)
      : frame_(frame), numbers_(numbers), found_(frame.empty) {
    const auto values = std::make_unique<ProfiledValues>();
    for (std::int64_t i = 0; i < numbers.count(); ++i) {
      decode(numbers, i, i + 1, *values);
      if (values->taken[0] != kProfileAbsent) add(i, *values);
    }
    std::ranges::sort(found_.elements, [](const ProfiledElement& x, const ProfiledElement& y) {
      const double size_x = std::isnan(x.difference) ? kInfinity : x.difference;
      const double size_y = std::isnan(y.difference) ? kInfinity : y.difference;
      return size_x != size_y ? size_x > size_y : x.index < y.index;
    });
    if (found_.elements.size() > frame.top) found_.elements.resize(frame.top);
  }

  const Profile& found() const { return found_; }

 private:
  void add(std::int64_t i, const ProfiledValues& one) {
    const bool finite = one.taken[0] == 0;
    const bool disagrees = one.taken[0] == 2;
    const double d = one.d[0];
    const double size = frame_.pair ? d : std::fabs(one.a[0]);
    const Sums sums{1,
                    disagrees || (finite && d != 0) ? 1 : 0,
                    finite ? 0 : 1,
                    disagrees ? 1 : 0,
                    finite ? one.a[0] * one.a[0] : 0,
                    finite ? d * d : 0,
                    finite ? size : 0};
    const Extents at = frame_.shape.empty() ? Extents{0} : unravel(frame_.shape, i);
    found_.all.add(sums);
    for (AxisProfile& axis : found_.axes)
      axis.bins[static_cast<std::size_t>(at[axis.dim] / axis.slices_per_bin)].add(sums);
    if (found_.blocks) {
      BlockProfile& blocks = *found_.blocks;
      const std::int64_t down = i / blocks.columns / blocks.block_rows;
      const std::int64_t across = i % blocks.columns / blocks.block_columns;
      blocks.blocks[static_cast<std::size_t>(down * blocks.across + across)].add(sums);
    }
    PowerHistogram& histogram = found_.histogram;
    const double value = frame_.pair ? d / frame_.unit : one.a[0];
    if (!finite) {
      ++histogram.non_finite;
    } else if (value == 0) {
      ++histogram.zeros;
    } else {
      auto& bins = value < 0 ? histogram.negative_bins : histogram.bins;
      ++bins[static_cast<std::size_t>(std::clamp(std::ilogb(value) + 3, 0, 6))];
    }
    if (disagrees || (finite && size != 0)) {
      ProfiledElement element;
      element.index = i;
      element.difference = disagrees ? kNan : size;
      element.a = number(numbers_.a, numbers_.dtype_a, i);
      if (frame_.pair) element.b = number(numbers_.b, numbers_.dtype_b, i);
      found_.elements.push_back(element);
    }
  }

  static std::array<double, 2> number(const Doubles& all, DType dtype, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_complex(dtype)) return {all[at], 0};
    return {all[2 * at], all[2 * at + 1]};
  }

  const ProfileFrame& frame_;
  const Drawn& numbers_;
  Profile found_;
};

bool same(const Sums& x, const Sums& y) {
  return x.count == y.count && x.unequal == y.unequal && x.non_finite == y.non_finite &&
         x.disagree == y.disagree && x.a2 == y.a2 && x.d2 == y.d2 && x.largest == y.largest;
}

bool same(const std::vector<Sums>& x, const std::vector<Sums>& y) {
  return std::ranges::equal(x, y, [](const Sums& a, const Sums& b) { return same(a, b); });
}

bool same_number(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

bool same(const ProfiledElement& x, const ProfiledElement& y) {
  return x.index == y.index && same_number(x.difference, y.difference) &&
         std::ranges::equal(x.a, y.a, same_number) && std::ranges::equal(x.b, y.b, same_number);
}

void check_same(const Profile& found, const Profile& expected) {
  CHECK(same(found.all, expected.all));
  REQUIRE(found.axes.size() == expected.axes.size());
  for (std::size_t i = 0; i < found.axes.size(); ++i) {
    CAPTURE(i);
    CHECK(same(found.axes[i].bins, expected.axes[i].bins));
  }
  REQUIRE(found.blocks.has_value() == expected.blocks.has_value());
  if (found.blocks) CHECK(same(found.blocks->blocks, expected.blocks->blocks));
  CHECK(found.histogram.zeros == expected.histogram.zeros);
  CHECK(found.histogram.non_finite == expected.histogram.non_finite);
  CHECK(found.histogram.bins == expected.histogram.bins);
  CHECK(found.histogram.negative_bins == expected.histogram.negative_bins);
  CHECK(std::ranges::equal(found.elements, expected.elements,
                           [](const auto& x, const auto& y) { return same(x, y); }));
}

/// Small numbers, many of them alike, so that sums are exact and sizes tie; some not finite.
Drawn hard(DType a, DType b, bool pair, std::int64_t count, bool absent) {
  std::mt19937 random(5);
  const auto draw = [&]() -> double {
    switch (random() % 30) {
      case 0:
        return kNan;
      case 1:
        return kInfinity;
      case 2:
        return -kInfinity;
      case 3:
        return 1024;  // beyond the last bin
      case 4:
        return 0x1p-9;  // below the first
      default:
        return static_cast<double>(random() % 9) - 4;
    }
  };
  // Complex ones lie on one line, so that their moduli and distances are whole numbers, too.
  const auto put = [](DType dtype, double value, Doubles& all) {
    if (!is_complex(dtype)) return all.push_back(value);
    all.push_back(std::isinf(value) ? 3 : 3 * value);
    all.push_back(std::isnan(value) ? 4 : 4 * value);
  };
  Drawn numbers{a, b, pair, {}, {}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = draw();
    put(a, value, numbers.a);
    put(b, random() % 2 == 0 ? value : draw(), numbers.b);
  }
  for (std::int64_t i = 3; absent && i < count; i += 7) numbers.absent.push_back(i);
  return numbers;
}

Profile walked(const ProfileFrame& frame, const Drawn& numbers, std::int64_t stretch,
               std::int64_t at_once) {
  ProfilePart all(frame, 0);
  const auto values = std::make_unique<ProfiledValues>();
  for (std::int64_t begin = 0; begin < numbers.count(); begin += stretch) {
    const std::int64_t end = std::min(begin + stretch, numbers.count());
    ProfilePart part(frame, begin);
    for (std::int64_t at = begin; at < end; at += at_once) {
      decode(numbers, at, std::min(at + at_once, end), *values);
      part.add(*values);
    }
    all.append(part);
  }
  return all.take();
}

TEST_CASE("however a tensor is cut into stretches, each element is told once, at its place") {
  struct Row {
    Shape shape;
    std::vector<Cut> cuts;
    std::int64_t block_rows, block_columns;
  };
  const std::vector<Row> rows = {
      {{}, {}, 0, 0},
      {{1}, {{0, 1}}, 0, 0},
      {{60}, {{0, 1}, {0, 7}, {0, 60}}, 0, 0},
      {{6, 10}, {{0, 1}, {1, 1}, {0, 4}, {1, 3}}, 2, 4},
      {{10, 6}, {{0, 3}, {1, 6}}, 16, 8},
      {{1, 60}, {{0, 1}, {1, 16}}, 1, 16},
      {{60, 1}, {{0, 16}, {1, 1}}, 16, 1},
      {{3, 4, 5}, {{0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 3}, {2, 2}}, 4, 2},
      {{2, 3, 2, 5}, {{0, 1}, {1, 2}, {2, 1}, {3, 4}}, 8, 1}};
  for (const Row& row : rows) {
    for (const auto& [a, b, pair] :
         std::vector<std::tuple<DType, DType, bool>>{{DType::f64, DType::f64, true},
                                                     {DType::f32, DType::f64, true},
                                                     {DType::f32, DType::f32, false},
                                                     {DType::c64, DType::c128, true},
                                                     {DType::c128, DType::c128, false}}) {
      for (const bool absent : {false, true}) {
        const Drawn numbers = hard(a, b, pair, element_count(row.shape), absent);
        for (const std::size_t top : {0U, 1U, 6U, 1000U}) {
          const ProfileFrame frame =
              frame_of(numbers, row.shape, row.cuts, row.block_rows, row.block_columns, top);
          const Profile expected = Definition(frame, numbers).found();
          for (const auto& [stretch, at_once] : std::vector<std::pair<int, int>>{
                   {1000, 1000}, {1000, 1}, {1000, 8}, {17, 5}, {13, 13}, {1, 1}}) {
            INFO(row.shape.size() << " dims, " << name(a) << ", pair: " << pair << ", top " << top
                                  << ", absent: " << absent << ", " << stretch << " / " << at_once);
            check_same(walked(frame, numbers, stretch, at_once), expected);
          }
        }
      }
    }
  }
}

TEST_CASE("the statistics of each side, of moduli for complex numbers") {
  struct Row {
    const char* what;
    Drawn numbers;
    std::size_t side;
    ValueStats expected;
  };
  using enum DType;
  const Drawn real{f64,
                   f32,
                   true,
                   {3, 0, -0.0, kNan, 9, kInfinity, -3, 3, -kInfinity, -3, 50, kNan},
                   {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -70, 1},
                   {10}};
  Drawn alone = real;
  alone.pair = false;
  const Drawn complex{c64,
                      c64,
                      true,
                      {3, 4, kNan, kInfinity, 0, 0, kInfinity, 1, 6, 8, kInfinity, kNan},
                      {0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2},
                      {}};
  // finite, zeros, nan, +inf, -inf, first of each, least, most, their places, mean, m2, sum2
  const ValueStats of_real{7, 2, 2, 1, 1, 3, 5, 8, -3, 9, 6, 4, 9.0 / 7, 117 - 81.0 / 7, 117};
  const ValueStats of_other{11, 0, 0, 0, 0, -1, -1, -1, 1, 1, 0, 0, 1, 0, 11};
  const ValueStats of_complex{3, 1, 2, 1, 0, 1, 3, -1, 0, 10, 2, 4, 5, 50, 125};
  const ValueStats of_moduli{6, 0, 0, 0, 0, -1, -1, -1, 2, 2, 0, 0, 2, 0, 24};
  for (const Row& row : std::vector<Row>{{"reference", real, 0, of_real},
                                         {"candidate", real, 1, of_other},
                                         {"alone", alone, 0, of_real},
                                         {"complex", complex, 0, of_complex},
                                         {"complex candidate", complex, 1, of_moduli}}) {
    for (const std::int64_t stretch : {100, 5, 1}) {
      INFO(row.what << ", " << stretch);
      const ProfileFrame frame = frame_of(row.numbers, {row.numbers.count()}, {}, 0, 0, 0);
      const Profile found = walked(frame, row.numbers, stretch, 3);
      const ValueStats& stats = found.sides.at(row.side);
      CHECK(stats.finite == row.expected.finite);
      CHECK(stats.zeros == row.expected.zeros);
      CHECK(stats.nan == row.expected.nan);
      CHECK(stats.plus_inf == row.expected.plus_inf);
      CHECK(stats.minus_inf == row.expected.minus_inf);
      CHECK(stats.first_nan == row.expected.first_nan);
      CHECK(stats.first_plus_inf == row.expected.first_plus_inf);
      CHECK(stats.first_minus_inf == row.expected.first_minus_inf);
      CHECK(stats.least == row.expected.least);
      CHECK(stats.most == row.expected.most);
      CHECK(stats.least_index == row.expected.least_index);
      CHECK(stats.most_index == row.expected.most_index);
      CHECK(stats.mean == doctest::Approx(row.expected.mean).epsilon(1e-13));
      CHECK(stats.m2 == doctest::Approx(row.expected.m2).epsilon(1e-13));
      CHECK(stats.sum2 == row.expected.sum2);
    }
  }
}

}  // namespace
}  // namespace ttcheck::compare
