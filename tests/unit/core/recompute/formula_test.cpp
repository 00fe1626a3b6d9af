// SPDX-License-Identifier: Apache-2.0
// Formulas by ranges, and how they meet what was dumped.

#include "core/recompute/formula.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/parallel.hpp"
#include "core/recompute/evaluate.hpp"
#include "core/recompute/ops.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::recompute {
namespace {

std::vector<float> waves(std::int64_t count, double pitch) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(pitch * static_cast<double>(i))));
  }
  return values;
}

/// A linear layer whose operands are too large to be kept.
struct Large {
  static constexpr std::int64_t kRows = 300, kIn = 500, kOut = 400;
  tests::ArraySource x_bytes = tests::ArraySource::of(waves(kRows * kIn, 0.7));
  tests::ArraySource w_bytes = tests::ArraySource::of(waves(kOut * kIn, 1.3));
  Tensor x = tests::tensor_of(x_bytes, DType::f32, {kRows, kIn});
  Tensor w = tests::tensor_of(w_bytes, DType::f32, {kOut, kIn});
  Operand left{x}, right{w};
  Shape shape{kRows, kOut};
  Call call{"linear", {}, {&left}, &right, nullptr, {}};
  Formulas ways = linear_forward(call, {Target::Part::output, 0, shape});
};

TEST_CASE("a value does not depend on the range that it is asked for in") {
  const Large large;
  REQUIRE(large.ways.size() == 1);
  CHECK(large.left.held().empty());
  const Formula& formula = large.ways.front();
  std::vector<double> all(Large::kRows * Large::kOut), row(Large::kOut);
  formula.fill(0, all);
  for (const std::int64_t n : {0, 7, 299}) {
    formula.fill(n * Large::kOut, row);
    CHECK(std::equal(row.begin(), row.end(), all.begin() + n * Large::kOut));
  }
  double sum = 0;
  for (std::int64_t i = 0; i < Large::kIn; ++i) {
    const auto at = [](std::int64_t n, double pitch) {
      return static_cast<double>(static_cast<float>(std::sin(pitch * static_cast<double>(n))));
    };
    sum += at(2 * Large::kIn + i, 0.7) * at(3 * Large::kIn + i, 1.3);
  }
  CHECK(all[2 * Large::kOut + 3] == doctest::Approx(sum).epsilon(1e-12));
}

TEST_CASE("an op that is too large is recomputed in part, the worst element with it") {
  const Large large;
  const Formula& formula = large.ways.front();
  const std::int64_t count = Large::kRows * Large::kOut;
  const auto all = ranges_of(formula, count, 1e12, -1, 1 << 20);
  REQUIRE(all);
  CHECK(all->all);
  const double third = static_cast<double>(count) * formula.cost / 3;
  const auto some = ranges_of(formula, count, third, count - 1, 1 << 20);
  REQUIRE(some);
  CHECK_FALSE(some->all);
  CHECK(some->numbers.back() == (count - 1) / some->size);
  CHECK(static_cast<double>(some->size) * static_cast<double>(some->numbers.size()) *
            formula.cost <=
        third);
  CHECK_FALSE(ranges_of(formula, count, 1, -1, 1 << 20));
}

TEST_CASE("ranges hold whole granules, as many as the budget allows") {
  struct Row {
    const char* what;
    std::int64_t granule, preferred;
    double cost;
    std::int64_t count;
    double budget;
    std::int64_t worst, most, size;
    std::vector<std::int64_t> numbers;
    bool all = true;
  };
  std::vector<std::int64_t> each(49);
  std::iota(each.begin(), each.end(), 0);
  const Row rows[] = {
      {"the last one is shorter", 1, 4, 1, 10, 12, -1, 99, 4, {0, 1, 2}},
      {"all of one by one", 1, 1, 1, 49, 49, 3, 99, 1, each},
      {"one element", 1, 4, 1, 1, 1, 0, 99, 4, {0}},
      {"of no cost", 1, 4, 0, 8, 1, -1, 99, 4, {0, 1}},
      {"a granule that costs more than a range should", 3, 6, 1e7, 3, 3e7, -1, 99, 3, {0}},
      {"nothing is left over of what is afforded", 1, 4, 1, 8, 4, -1, 99, 4, {0}, false},
      {"half of it is no range", 1, 4, 1, 12, 10, -1, 99, 4, {0, 1}, false},
      {"evenly spread", 1, 2, 1, 10, 99, -1, 2, 2, {0, 2}, false},
      {"the worst element in place of the nearest", 1, 2, 1, 10, 99, 9, 2, 2, {0, 4}, false},
      {"the first", 1, 2, 1, 10, 99, 0, 2, 2, {0, 2}, false},
      {"the second", 1, 1, 1, 5, 99, 1, 2, 1, {1, 2}, false},
      {"none is known", 1, 1, 1, 5, 99, -1, 2, 1, {0, 2}, false},
      {"none that is there", 1, 2, 1, 10, 99, 10, 2, 2, {0, 2}, false},
      {"less than one", 1, 4, 1, 8, 3.5, -1, 99, 0, {}},
      {"no elements", 1, 4, 1, 0, 99, -1, 99, 0, {}},
      {"as much as is ever held", kMostHeld, kMostHeld, 1, 2, 2, -1, 1, kMostHeld, {0}},
      {"more than that", kMostHeld + 1, kMostHeld + 1, 1, 2, 2, -1, 1, 0, {}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const Formula formula{row.granule, row.preferred, row.cost, 1, {}};
    const auto found = ranges_of(formula, row.count, row.budget, row.worst, row.most);
    REQUIRE(found.has_value() == (row.size > 0));
    if (!found) continue;
    CHECK(found->size == row.size);
    CHECK(found->numbers == row.numbers);
    CHECK(found->all == row.all);
    CHECK(found->without == -1);
  }
}

TEST_CASE("a range is about 2^14 elements, of whole rows") {
  const auto none = [](std::int64_t, std::span<double>) {};
  CHECK(elementwise(7, none).preferred == 16384);
  CHECK(elementwise(7, none).cost == 7);
  struct Row {
    std::int64_t width, preferred;
  };
  for (const Row& row : {Row{1, 16384}, {3, 16383}, {5000, 15000}, {16385, 16385}}) {
    CAPTURE(row.width);
    const auto formula = by_rows(row.width, 7, none);
    REQUIRE(formula);
    CHECK(formula->granule == row.width);
    CHECK(formula->preferred == row.preferred);
    CHECK(formula->cost == 7);
    CHECK(formula->length == 1);
  }
  CHECK(by_rows(kMostHeld, 1, none));
  CHECK_FALSE(by_rows(kMostHeld + 1, 1, none));
  CHECK_FALSE(by_rows(0, 1, none));
}

TEST_CASE("addends are made one after the other, in ranges that hold the granules of each") {
  const auto fills = [](double value) {
    return [value](std::int64_t begin, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = value * static_cast<double>(begin + static_cast<std::int64_t>(i));
    };
  };
  const Formula pairs{2, 10, 3, 5, fills(1)}, fours{4, 4, 4, 7, fills(10)};
  const Formula threes{3, 9, 1, 1, fills(100)};
  for (const bool first : {true, false}) {
    const auto sum = sum_of(first ? Formulas{pairs, fours} : Formulas{fours, pairs});
    REQUIRE(sum);
    CHECK(sum->granule == 4);
    CHECK(sum->preferred == 8);
    CHECK(sum->cost == 7);
    CHECK(sum->length == 7);
    std::vector<double> out(4);
    sum->fill(4, out);
    CHECK(out == std::vector<double>{44, 55, 66, 77});
  }
  const auto one = sum_of({threes});
  REQUIRE(one);
  CHECK(one->preferred == 9);
  std::vector<double> out(3);
  one->fill(3, out);
  CHECK(out == std::vector<double>{300, 400, 500});
  CHECK_FALSE(sum_of({pairs, threes}));
  CHECK_FALSE(sum_of({}));
}

TEST_CASE("one mismatch of all elements, by rows of the tensor") {
  const auto source = tests::ArraySource::of(std::vector<float>{1, 1, 2});
  const Tensor dumped = tests::tensor_of(source, DType::f32, {3, 1});
  const Operand made(dumped);
  const Formula formula =
      elementwise(1, [](std::int64_t, std::span<double> out) { std::ranges::fill(out, 1.0); });
  const auto ranges = ranges_of(formula, 3, 1e6, -1, 1 << 20);
  REQUIRE(ranges);
  const auto found = evaluate(formula, made, *ranges, {}, [] { return false; });
  REQUIRE(found.size() == 1);
  CHECK(found[0].count() == 3);
  CHECK(found[0].row() == 1);
  CHECK(evaluate(formula, made, *ranges, {}, {}).size() == 1);
  const std::vector<Part> parts = {{Box{{0, 0}, {2, 1}}}, {Box{{2, 0}, {1, 1}}}};
  const auto apart = evaluate(formula, made, *ranges, parts, {});
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].count() == 2);
  CHECK(apart[0].worst() == -1);
  CHECK(apart[1].worst() == 2);
  CHECK_THROWS_AS(evaluate(formula, made, *ranges, {}, [] { return true; }), Error);
}

TEST_CASE("threads do not show") {
  const Large large;
  const Formula& formula = large.ways.front();
  const auto source = tests::ArraySource::of(waves(Large::kRows * Large::kOut, 0.1));
  const Tensor dumped = tests::tensor_of(source, DType::f32, large.shape);
  const Operand made(dumped);
  const auto ranges = ranges_of(formula, made.count(), 1e12, -1, 1 << 20);
  const auto measure = [&](int threads) {
    set_threads(threads);
    return evaluate(formula, made, *ranges, {}, {}).front();
  };
  const Mismatch one = measure(1), four = measure(4);
  set_threads(0);
  CHECK(one.rel() == four.rel());
  CHECK(one.outlier() == four.outlier());
  CHECK(one.worst() == four.worst());
}

TEST_CASE("an element may be taken to be right") {
  const std::vector<float> expected = {1, 2, 3, 4, 5, 6};
  std::vector<float> dumped = expected;
  dumped[4] = 9;
  const auto left = tests::ArraySource::of(expected), right = tests::ArraySource::of(dumped);
  const Tensor a = tests::tensor_of(left, DType::f32, {6});
  const Tensor b = tests::tensor_of(right, DType::f32, {6});
  const Operand from(a), made(b);
  Formula formula =
      elementwise(1, [&](std::int64_t begin, std::span<double> out) { from.read(begin, out); });
  formula.preferred = 2;  // three ranges
  auto ranges = ranges_of(formula, 6, 1e6, -1, 1 << 20);
  REQUIRE(ranges);
  CHECK(ranges->numbers == std::vector<std::int64_t>{0, 1, 2});
  for (const std::int64_t without : {-1, 3, 4, 5}) {
    CAPTURE(without);
    ranges->without = without;
    CHECK(evaluate(formula, made, *ranges, {}, {}).front().worst() == (without == 4 ? -1 : 4));
  }
}

TEST_CASE("an infinity that the dtype makes of what is too large is no mismatch") {
  Mismatch mismatch(4);
  const std::vector<double> expected = {1, 70000, 1, -1e9}, dumped = {1, INFINITY, 1, -INFINITY};
  mismatch.add(0, expected, dumped, DType::f16);
  CHECK(mismatch.outlier() == 0);
  mismatch.add(4, std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 2, NAN, 4}, DType::f16);
  CHECK(std::isinf(mismatch.outlier()));
  CHECK(mismatch.worst() == 6);
}

}  // namespace
}  // namespace ttcheck::recompute
