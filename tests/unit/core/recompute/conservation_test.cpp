// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/conservation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/stored_piece.hpp"

namespace ttcheck::recompute {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One collective, piece by piece.
struct Laid {
  std::deque<tests::ArraySource> sources;
  Collective collective;

  Laid(const Shape& shape, Reduce reduce, DType in, DType out) {
    collective.input.shape = collective.output.shape = shape;
    collective.input.dtype = in;
    collective.output.dtype = out;
    collective.input.reduce = reduce;
  }

  /// What a rank holds of `box`, or of all.
  Piece piece(std::int32_t rank, const std::vector<double>& values, DType dtype,
              std::optional<Box> box = {}) {
    return tests::stored_piece(sources, rank, dtype, values, box);
  }

  void bring(std::int32_t rank, const std::vector<double>& values) {
    collective.input.terms.push_back({piece(rank, values, collective.input.dtype)});
    collective.input.term_replicas.emplace_back();
  }
  void move(std::int32_t rank, const std::vector<double>& values, std::optional<Box> box = {}) {
    collective.input.pieces.push_back(piece(rank, values, collective.input.dtype, box));
  }
  void get(std::int32_t rank, const std::vector<double>& values, std::optional<Box> box = {}) {
    auto& to = collective.output.pieces.empty() || box ? collective.output.pieces
                                                       : collective.output.replicas;
    to.push_back(piece(rank, values, collective.output.dtype, box));
  }

  std::optional<Conservation> found() const {
    double budget = 1e9;
    return conservation_of(collective, budget, {});
  }
};

/// All ranks get one number of what they brought.
struct Row {
  const char* what;
  std::vector<double> brought;
  double got;
  Reduce reduce = Reduce::sum;
  DType in = DType::f32, out = DType::f32;
  bool broken = false;
  double error = 0, limit = 0;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Laid laid({1}, row.reduce, row.in, row.out);
    std::int32_t rank = 0;
    for (const double value : row.brought) laid.bring(rank++, {value});
    laid.get(0, {row.got});
    const auto found = laid.found();
    REQUIRE(found);
    CHECK(found->broken() == row.broken);
    CHECK(found->index == (row.broken ? 0 : -1));
    CHECK(found->ranks.size() == (row.broken ? 1 : 0));
    if (!row.broken) CHECK(found->error == 0);
    if (!row.broken) CHECK(found->limit == 0);
    if (!row.broken) CHECK(found->ratio == 0);
    if (!row.broken) continue;
    CHECK((found->error == row.error || found->error == doctest::Approx(row.error)));
    CHECK(found->limit == doctest::Approx(row.limit).epsilon(1e-6));
    if (std::isfinite(row.error) && row.limit > 0) {
      CHECK(found->ratio == doctest::Approx(row.error / row.limit).epsilon(1e-6));
    } else {
      CHECK(found->ratio == kInfinite);
    }
  }
}

TEST_CASE("n addends may be off by n eps times the sum of their sizes") {
  const double eps = 0x1p-23;
  check({
      {.what = "three, in the limit", .brought = {1, 2, -3}, .got = 17 * eps},
      {.what = "beyond it",
       .brought = {1, 2, -3},
       .got = 19 * eps,
       .broken = true,
       .error = 19 * eps,
       .limit = 18 * eps},
      {.what = "their mean by as much of it",
       .brought = {1, 2, -3},
       .got = 5 * eps,
       .reduce = Reduce::avg},
      {.what = "beyond that",
       .brought = {1, 2, -3},
       .got = 7 * eps,
       .reduce = Reduce::avg,
       .broken = true,
       .error = 7 * eps,
       .limit = 6 * eps},
      {.what = "of the coarser type",
       .brought = {1, 1},
       .got = 2 + 0x1p-6,
       .in = DType::bf16,
       .out = DType::bf16},
      {.what = "which is what they were", .brought = {1, 1}, .got = 2 + 0x1p-6, .in = DType::bf16},
      {.what = "or became", .brought = {1, 1}, .got = 2 + 0x1p-6, .out = DType::bf16},
      {.what = "beyond its limit",
       .brought = {1, 1},
       .got = 2 + 3 * 0x1p-6,
       .in = DType::bf16,
       .broken = true,
       .error = 3 * 0x1p-6,
       .limit = 4 * 0x1p-7},
      {.what = "whole numbers by nothing",
       .brought = {1, 2},
       .got = 4,
       .in = DType::i32,
       .out = DType::i32,
       .broken = true,
       .error = 1,
       .limit = 6 * 0x1p-52},
  });
}

TEST_CASE("what is too small for the type may be flushed to zero or rounded to its least step") {
  check({
      {.what = "subnormal", .brought = {1e-39, 1e-39}, .got = 0},
      {.what = "normal",
       .brought = {0x1p-126, 0x1p-126},
       .got = 0,
       .broken = true,
       .error = 0x1p-125,
       .limit = 0x1p-126},
      {.what = "steps of fp16", .brought = {0x1p-26, 0x1p-26}, .got = 0, .out = DType::f16},
      {.what = "one step",
       .brought = {0x1p-24, 0x1p-24},
       .got = 0x1p-24,
       .in = DType::f16,
       .out = DType::f16},
      {.what = "two",
       .brought = {0x1p-24, 0x1p-24},
       .got = 0,
       .in = DType::f16,
       .out = DType::f16,
       .broken = true,
       .error = 0x1p-23,
       .limit = 0x1p-24 + 4 * 0x1p-34},
  });
}

TEST_CASE("a largest value is one of them to the bit, unless the type changes") {
  check({
      {.what = "the first", .brought = {5, 1}, .got = 5, .reduce = Reduce::max},
      {.what = "the last", .brought = {1, 2, 5}, .got = 5, .reduce = Reduce::max},
      {.what = "below zero", .brought = {-5, -7}, .got = -5, .reduce = Reduce::max},
      {.what = "NaN", .brought = {1, kNan}, .got = kNan, .reduce = Reduce::max},
      {.what = "off by a step",
       .brought = {1, 5},
       .got = 5 + 0x1p-21,
       .reduce = Reduce::max,
       .broken = true,
       .error = 0x1p-21,
       .limit = 0},
      {.what = "rounded to another type",
       .brought = {1 + 0x1p-8},
       .got = 1,
       .reduce = Reduce::max,
       .out = DType::bf16},
      {.what = "further off",
       .brought = {1 + 0x1p-8},
       .got = 1 - 0x1p-7,
       .reduce = Reduce::max,
       .out = DType::bf16,
       .broken = true,
       .error = 3 * 0x1p-8,
       .limit = 0x1p-7 * (1 + 0x1p-8)},
  });
}

TEST_CASE("infinities and NaN: brought in, or of sums that the type cannot hold") {
  const DType f16 = DType::f16;  // up to 65504
  const double eps = 0x1p-10;
  check({
      {.what = "an infinity stays", .brought = {kInfinite, 1}, .got = kInfinite},
      {.what = "NaN stays", .brought = {kNan, 1}, .got = kNan},
      {.what = "they are one kind", .brought = {kInfinite, -kInfinite}, .got = kNan},
      {.what = "too large a sum", .brought = {4e4, 4e4}, .got = kInfinite, .in = f16, .out = f16},
      {.what = "too large on its way to a mean",
       .brought = {4e4, 4e4},
       .got = kInfinite,
       .reduce = Reduce::avg,
       .in = f16,
       .out = f16},
      {.what = "too large in some order",
       .brought = {4e4, 4e4, -4e4},
       .got = kInfinite,
       .in = f16,
       .out = f16},
      {.what = "by its rounding alone",
       .brought = {65504, 14},
       .got = kInfinite,
       .in = f16,
       .out = f16},
      {.what = "in no order",
       .brought = {3e4, 3e4, -3e4},
       .got = kInfinite,
       .in = f16,
       .out = f16,
       .broken = true,
       .error = kInfinite,
       .limit = 3 * eps * 9e4},
      {.what = "a largest value adds nothing up",
       .brought = {4e4, 4e4},
       .got = kInfinite,
       .reduce = Reduce::max,
       .in = f16,
       .out = f16,
       .broken = true,
       .error = kInfinite,
       .limit = 0},
      {.what = "out of nothing",
       .brought = {1, 1},
       .got = kInfinite,
       .broken = true,
       .error = kInfinite,
       .limit = 2 * 0x1p-23 * 2},
      {.what = "NaN out of nothing",
       .brought = {1, 1},
       .got = kNan,
       .broken = true,
       .error = kInfinite,
       .limit = 2 * 0x1p-23 * 2},
  });
  for (const double value : {kInfinite, -kInfinite, kNan}) {
    CAPTURE(value);
    Laid lost({1}, Reduce::sum, DType::f32, DType::f32);
    lost.bring(0, {value});
    lost.get(0, {2});
    CHECK(lost.found()->broken());
    CHECK(lost.found()->error == kInfinite);
  }
}

TEST_CASE("of elements beyond their limits the one that is furthest off, over all copies") {
  Laid laid({3}, Reduce::sum, DType::f32, DType::f32);
  laid.bring(0, {1e9, 1, 1});
  laid.bring(1, {-1e9, 1, 1});
  laid.get(4, {100, 2, 2});  // within 2 eps of 2e9
  laid.get(2, {0, 2.25, 2});
  laid.get(3, {0, 2, 2.5});
  laid.get(1, {0, 2, 2});
  const auto found = laid.found();
  REQUIRE(found);
  CHECK(found->index == 2);
  CHECK(found->error == 0.5);
  CHECK(found->ranks == std::vector<std::int32_t>{2, 3});
  CHECK(found->group == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("each rank is held to its own part, and the group brought something of it") {
  Laid laid({2, 2}, Reduce::none, DType::f32, DType::f32);
  const Box top{{0, 0}, {1, 2}}, bottom{{1, 0}, {1, 2}};
  laid.move(0, {1, 2}, top);
  laid.move(1, {3, 4}, bottom);
  laid.get(2, {1, 2}, top);
  laid.get(3, {3, 5}, bottom);
  const auto found = laid.found();
  REQUIRE(found);
  CHECK(found->ranks == std::vector<std::int32_t>{3});
  CHECK(found->group == std::vector<std::int32_t>{1});
  CHECK(found->index == 3);
  CHECK(found->error == 1);
  laid.collective.group = {0, 1, 2, 3};  // where it is known
  CHECK(laid.found()->group == laid.collective.group);
}

TEST_CASE("where copies of what went in differ, nothing is said of what came out wrong") {
  for (const double copy : {2.0, 3.0}) {
    CAPTURE(copy);
    Laid moved({2}, Reduce::none, DType::f32, DType::f32);
    moved.move(0, {1, 2});
    moved.collective.input.replicas.push_back(moved.piece(1, {1, copy}, DType::f32));
    moved.get(0, {1, 9});
    CHECK(moved.found().has_value() == (copy == 2));
    Laid summed({2}, Reduce::sum, DType::f32, DType::f32);
    summed.bring(0, {1, 2});
    summed.bring(1, {1, 2});
    summed.collective.input.term_replicas[1] = {summed.piece(2, {1, copy}, DType::f32)};
    summed.get(0, {2, 9});
    CHECK(summed.found().has_value() == (copy == 2));
    summed.collective.output.pieces = {summed.piece(0, {2, 4}, DType::f32)};
    CHECK(summed.found().has_value());  // what is right is right
  }
}

TEST_CASE("what has no values of its own is not looked at") {
  Laid laid({1}, Reduce::none, DType::f32, DType::f32);
  laid.move(0, {1});
  CHECK_FALSE(laid.found());
  laid.get(0, {1});
  CHECK(laid.found());
  laid.collective.output.reduce = Reduce::sum;
  CHECK_FALSE(laid.found());
}

TEST_CASE("large ones are read part by part") {
  constexpr std::int64_t kCount = 100000;
  std::vector<double> values(kCount, 3);
  Laid laid({kCount}, Reduce::none, DType::u8, DType::u8);
  laid.move(0, values);
  values[70000] = 5;
  laid.get(0, values);
  values[70000] = 3;
  values[kCount - 1] = 7;
  laid.get(1, values);
  const auto found = laid.found();
  REQUIRE(found);
  CHECK(found->index == kCount - 1);
  CHECK(found->error == 4);
  CHECK(found->ranks == std::vector<std::int32_t>{0, 1});
}

}  // namespace
}  // namespace ttcheck::recompute
