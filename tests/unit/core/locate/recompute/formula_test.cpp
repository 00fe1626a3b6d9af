// Formulas by ranges, and how they meet what was dumped.

#include "core/locate/recompute/formula.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/parallel.hpp"
#include "core/locate/recompute/evaluate.hpp"
#include "core/locate/recompute/ops.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::locate {
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
}  // namespace ttcheck::locate
