// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/product.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::recompute {
namespace {

using tests::ArraySource;
using tests::tensor_of;

/// Whole numbers, so that sums are exact in any order.
double number(std::int64_t row, std::int64_t column, std::int64_t seed) {
  return static_cast<double>((row * 7 + column * 5 + seed * row * column) % 11 - 5);
}

struct Stored {
  std::int64_t rows, columns, seed;
  ArraySource source = ArraySource::of(values());
  Tensor tensor = tensor_of(source, DType::f64, {rows, columns});
  Operand operand{tensor};
  Matrix matrix{operand, rows, columns};

  Stored(std::int64_t r, std::int64_t c, std::int64_t s) : rows(r), columns(c), seed(s) {}
  std::vector<double> values() const {
    std::vector<double> all;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) all.push_back(number(r, c, seed));
    }
    return all;
  }
};

/// Kept ones, and one of more rows than are held at a time.
const std::pair<std::int64_t, std::int64_t> kSizes[] = {{1, 1}, {2, 3}, {5, 2}, {300, 500}};

TEST_CASE("each row with each row") {
  for (const auto& [rows, columns] : kSizes) {
    CAPTURE(rows);
    const Stored m(rows, columns, 1);
    const std::vector<double> left = Stored(2, columns, 3).values();
    std::vector<double> out(2 * static_cast<std::size_t>(rows), NAN), expected;
    times_rows_of(m.matrix, left, out);
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (std::int64_t c = 0; c < columns; ++c) sum += number(i, c, 3) * number(r, c, 1);
        expected.push_back(sum);
      }
    }
    CHECK((out == expected));
  }
}

TEST_CASE("each row with each column") {
  for (const auto& [rows, columns] : kSizes) {
    CAPTURE(rows);
    const Stored m(rows, columns, 1);
    const std::vector<double> left = Stored(2, rows, 3).values();
    std::vector<double> out(2 * static_cast<std::size_t>(columns), NAN), expected;
    times(m.matrix, left, out);
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) sum += number(i, r, 3) * number(r, c, 1);
        expected.push_back(sum);
      }
    }
    CHECK((out == expected));
  }
}

TEST_CASE("sums over the rows in common, of some columns") {
  for (const std::int64_t rows : {1, 4, 300}) {
    const std::int64_t wide = rows == 300 ? 500 : 3;
    CAPTURE(rows);
    const Stored a(rows, 5, 1), b(rows, wide, 3);
    std::vector<double> out(2 * static_cast<std::size_t>(wide), NAN), expected;
    outer(a.matrix, 2, 2, b.matrix, out);
    for (std::int64_t i = 2; i < 4; ++i) {
      for (std::int64_t c = 0; c < wide; ++c) {
        double sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) sum += number(r, i, 1) * number(r, c, 3);
        expected.push_back(sum);
      }
    }
    CHECK((out == expected));
  }
}

TEST_CASE("sums of products, and multiples added") {
  const std::vector<double> a = {1, 2, 3}, b = {10, 100, 1000};
  CHECK(dot(a, b) == 3210);
  CHECK(dot({}, {}) == 0);
  std::vector<double> out = {1, 1, 1};
  add_multiple(2, a, out);
  CHECK(out == std::vector<double>{3, 5, 7});
}

TEST_CASE("rows are visited in order, each once, a bounded number at a time") {
  struct Row {
    std::int64_t rows, columns, begin, end, most;
  };
  const Row cases[] = {{5, 3, 1, 4, 65536 / 3},
                       {4, 3, 2, 2, 65536 / 3},
                       {300, 500, 3, 300, 131},
                       {2, 70000, 0, 2, 1}};
  for (const Row& one : cases) {
    CAPTURE(one.rows);
    const Stored m(one.rows, one.columns, 1);
    CHECK(m.operand.held().empty() == (one.rows * one.columns > Operand::kHeld));
    std::int64_t next = one.begin;
    bool right = true;
    for_rows(m.matrix, one.begin, one.end, [&](std::int64_t first, std::span<const double> tile) {
      CHECK(first == next);
      const std::int64_t size = std::ssize(tile) / one.columns;
      CHECK(size <= one.most);
      CHECK(tile.size() == static_cast<std::size_t>(size * one.columns));
      const std::span<const double> held = m.operand.held();
      if (!held.empty()) CHECK(tile.data() == held.data() + first * one.columns);  // no copy
      for (std::int64_t i = 0; i < std::ssize(tile); ++i) {
        right = right && tile[static_cast<std::size_t>(i)] ==
                             number(first + i / one.columns, i % one.columns, 1);
      }
      next += size;
    });
    CHECK(right);
    CHECK(next == one.end);
  }
}

TEST_CASE("of no rows the sums are zero") {
  const Stored none(0, 3, 1);
  std::vector<double> rows, sums = {7, 7, 7};
  times_rows_of(none.matrix, sums, rows);
  times(none.matrix, rows, sums);
  CHECK(sums == std::vector<double>{0, 0, 0});
}

}  // namespace
}  // namespace ttcheck::recompute
