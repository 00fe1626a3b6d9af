// SPDX-License-Identifier: Apache-2.0
#include "core/explain/survey.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

using tests::PairBeyond;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("which elements are wrong, by each kind of limit") {
  struct Row {
    const char* what;
    Limit limit;
    std::vector<double> reference, candidate;
    std::vector<std::int64_t> wrong;
  };
  const auto tolerance = [](double rtol, double atol) {
    Limit limit;
    limit.kind = LimitKind::tolerance;
    limit.rtol = rtol;
    limit.atol = atol;
    return limit;
  };
  const auto outlier = [](double most) {
    Limit limit;
    limit.kind = LimitKind::model;
    limit.outlier = most;
    return limit;
  };
  const Row rows[] = {
      {"exact: any", {}, {1, 2, 3}, {1, 2.0000002384185791, 3}, {1}},
      {"exact: zeros of both signs are equal", {}, {0, 1}, {-0.0, 1}, {}},
      {"a tolerance is reached", tolerance(0.25, 0.5), {4, -4}, {5.5, -5.5}, {}},
      {"and passed", tolerance(0.25, 0.5), {4, -4}, {5.5625, -5.5625}, {0, 1}},
      {"of zero the absolute part", tolerance(0.25, 0.5), {0, 0}, {0.5, 0.5625}, {1}},
      // The rms of 1, 1, 1, 5 is sqrt(7); of 3 and 4 with zeros 2.5.
      {"an outlier of the rms", outlier(0.5), {0, 3, 4, 0}, {1.25, 3, 4, 0}, {}},
      {"beyond it", outlier(0.5), {0, 3, 4, 0}, {1.3125, 3, 4, 0}, {0}},
      {"of the element, where it is larger", outlier(0.5), {0, 3, -4, 0}, {0, 4.5, -6, 0}, {}},
      {"beyond it", outlier(0.5), {0, 3, -4, 0}, {0, 4.5625, -6.0625, 0}, {1, 2}},
      {"what is not finite is no part of the rms",
       outlier(0.5),
       {kInf, 3, 4, 0, 0},
       {kInf, 3, 4, 0, 1.3125},
       {4}},
      {"NaN alike", {}, {kNan, 1}, {kNan, 1}, {}},
      {"NaN on one side", outlier(0.5), {kNan, 1, 1}, {1, kNan, 1}, {0, 1}},
      {"infinities of one sign", {}, {kInf, -kInf}, {kInf, -kInf}, {}},
      {"of two", outlier(0.5), {kInf, 1}, {-kInf, 1}, {0}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate);
    pair.result.limit = row.limit;
    const Survey seen = pair.seen();
    std::vector<std::int64_t> wrong;
    for (const WrongElement& one : seen.elements) {
      wrong.push_back(one.index);
      const auto at = static_cast<std::size_t>(one.index);
      CHECK((one.reference == row.reference[at] || std::isnan(row.reference[at])));
      CHECK((one.candidate == row.candidate[at] || std::isnan(row.candidate[at])));
    }
    CHECK(wrong == row.wrong);
    CHECK(seen.wrong == std::ssize(row.wrong));
    CHECK(seen.first == (row.wrong.empty() ? -1 : row.wrong.front()));
    CHECK(seen.last == (row.wrong.empty() ? -1 : row.wrong.back()));
  }
}

TEST_CASE("sums over all, over wrong elements, over those that are right") {
  // d: 1, 0.125 (right), -4; what is not finite counts nowhere, but is wrong.
  PairBeyond pair({2, 3}, {1, 2, 4, kInf, 3, 0}, {2, 2.125, 0, 1, kNan, 0});
  pair.result.limit.kind = LimitKind::tolerance;
  pair.result.limit.atol = 0.5;
  const Survey seen = pair.seen();
  CHECK(seen.wrong == 4);
  CHECK(seen.wrong_zeros == 1);
  CHECK(seen.wrong_d == -3);
  CHECK(seen.right_d2 == 0.015625);
  CHECK(seen.sum_d == -2.875);
  CHECK(seen.sum_d2 == 17.015625);
  CHECK(seen.sum_a2 == 21);
  CHECK(seen.sum_b2 == 4 + 2.125 * 2.125);
  CHECK(seen.sum_ab == 2 + 4.25);
  CHECK(seen.lo == Extents{0, 0});
  CHECK(seen.hi == Extents{1, 2});
  REQUIRE(seen.slices.size() == 2);
  CHECK(seen.slices[0].d2 == std::vector<double>{17.015625, 0});
  CHECK(seen.slices[0].a2 == std::vector<double>{21, 0});
  CHECK(seen.slices[0].wrong == std::vector<std::int64_t>{2, 2});
  CHECK(seen.slices[1].d2 == std::vector<double>{1, 0.015625, 16});
  CHECK(seen.slices[1].a2 == std::vector<double>{1, 4, 16});
  CHECK(seen.slices[1].wrong == std::vector<std::int64_t>{2, 1, 1});
  CHECK(seen.rows.d2.empty());
  CHECK(seen.reference_grain.count() == 5);
  CHECK(seen.candidate_grain.count() == 4);
}

TEST_CASE("the box of wrong elements, slices of three dims and their rows") {
  std::vector<double> a(24, 1), b(a);
  b[5] = 2;   // [0, 1, 1]
  b[15] = 3;  // [1, 0, 3]
  const Survey seen = PairBeyond({2, 3, 4}, a, b).seen();
  CHECK(seen.lo == Extents{0, 0, 1});
  CHECK(seen.hi == Extents{1, 1, 3});
  REQUIRE(seen.slices.size() == 3);
  CHECK(seen.slices[0].d2 == std::vector<double>{1, 4});
  CHECK(seen.slices[0].a2 == std::vector<double>{12, 12});
  CHECK(seen.slices[1].d2 == std::vector<double>{4, 1, 0});
  CHECK(seen.slices[1].a2 == std::vector<double>{8, 8, 8});
  CHECK(seen.slices[2].d2 == std::vector<double>{0, 1, 0, 4});
  CHECK(seen.rows.d2 == std::vector<double>{0, 1, 0, 4, 0, 0});
  CHECK(seen.rows.a2 == std::vector<double>{4, 4, 4, 4, 4, 4});
  CHECK(seen.rows.wrong == std::vector<std::int64_t>{0, 1, 0, 1, 0, 0});
}

TEST_CASE("a row of one element is a row") {
  const Survey seen = PairBeyond({2, 2, 1}, {1, 2, 3, 4}, {1, 2, 5, 4}).seen();
  CHECK(seen.rows.d2 == std::vector<double>{0, 0, 4, 0});
  CHECK(seen.rows.a2 == std::vector<double>{1, 4, 9, 16});
  CHECK(seen.rows.wrong == std::vector<std::int64_t>{0, 0, 1, 0});
  CHECK(seen.slices[0].d2 == std::vector<double>{0, 4});
  CHECK(seen.slices[1].d2 == std::vector<double>{4, 0});
  CHECK(seen.slices[2].d2.empty());
}

TEST_CASE("scalars, nothing, dims of one and dims that are too long have no slices") {
  const Survey scalar = PairBeyond({}, {1}, {2}).seen();
  CHECK(scalar.wrong == 1);
  CHECK(scalar.lo == Extents{0});
  CHECK(scalar.slices[0].d2.empty());
  const Survey none = PairBeyond({0}, {}, {}).seen();
  CHECK(none.wrong == 0);
  CHECK(none.first == -1);
  CHECK(none.sum_a2 == 0);
  const Survey one = PairBeyond({1, 2}, {1, 2}, {1, 3}).seen();
  CHECK(one.slices[0].d2.empty());
  CHECK(one.slices[1].d2 == std::vector<double>{0, 1});
  for (const std::int64_t extent : {1 << 20, (1 << 20) + 1}) {
    const std::vector<double> ones(static_cast<std::size_t>(extent), 1);
    const Survey seen = PairBeyond({extent}, ones, ones, 0, DType::u8, DType::u8).seen();
    CHECK(seen.slices[0].d2.empty() == (extent > 1 << 20));
    CHECK(seen.sum_a2 == static_cast<double>(extent));
  }
}

TEST_CASE("64 wrong elements are listed, all are counted") {
  for (const std::int64_t count : {64, 65}) {
    const std::vector<double> a(static_cast<std::size_t>(count), 1), b(a.size(), 2);
    const Survey seen = PairBeyond({count}, a, b).seen();
    CHECK(seen.elements.size() == 64);
    CHECK(seen.wrong == count);
    CHECK(seen.last == count - 1);
  }
}

TEST_CASE("rows that ranges cut are one row") {
  constexpr std::int64_t kRows = 3, kColumns = 30000;  // ranges are of 65,536
  std::vector<double> a(kRows * kColumns, 1), b(a);
  for (const std::size_t wrong : {65535U, 65536U, 89999U}) b[wrong] = 3;
  const Survey seen = PairBeyond({kRows, kColumns}, a, b).seen();
  CHECK(seen.slices[0].d2 == std::vector<double>{0, 0, 12});
  CHECK(seen.slices[0].wrong == std::vector<std::int64_t>{0, 0, 3});
  CHECK(seen.slices[1].d2[5535] == 4);
  CHECK(seen.slices[1].d2[5536] == 4);
  CHECK(seen.slices[1].d2[29999] == 4);
  CHECK(seen.first == 65535);
  CHECK(seen.last == 89999);
  CHECK(seen.lo == Extents{2, 5535});
}

TEST_CASE("slices beyond a limit: a wrong element in them, or far off for their size") {
  struct Row {
    const char* what;
    double row;
    Slices slices;
    std::vector<std::int64_t> beyond;
  };
  const Row rows[] = {
      {"nothing", 1, {}, {}},
      {"wrong elements", 0, {{9, 9, 9}, {1, 1, 1}, {1, 0, 2}}, {0, 2}},
      {"at the limit", 0.5, {{1, 1}, {4, 4}, {0, 0}}, {}},
      {"beyond it", 0.5, {{1.01, 1}, {4, 4}, {0, 0}}, {0}},
      {"small ones are held to the mean", 0.5, {{1, 0, 1.01}, {0, 8, 4}, {0, 0, 0}}, {2}},
      {"large ones to their own", 0.5, {{2.01, 0, 2}, {8, 0, 8}, {0, 0, 0}}, {0}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Limit limit;
    limit.row = row.row;
    CHECK(row.slices.beyond(limit) == row.beyond);
  }
}

}  // namespace
}  // namespace ttcheck::explain
