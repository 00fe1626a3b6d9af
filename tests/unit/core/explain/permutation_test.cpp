// SPDX-License-Identifier: Apache-2.0
#include "core/explain/permutation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

using Indices = std::vector<std::int64_t>;

double number(std::int64_t i) {
  const double x = std::sin(static_cast<double>(i * i + 1)) * 43758.5453;
  return static_cast<double>(static_cast<float>(2 * (x - std::floor(x)) - 1));
}

struct Row {
  const char* what;
  Shape shape;
  std::function<std::int64_t(std::int64_t)> from;  ///< the reference's element; -1: a wrong number
  std::string name = {};                           ///< empty: no explanation
  std::string words = {};
  std::optional<std::int64_t> dimension = {}, slice = {}, shift = {};
  std::optional<Indices> order = {};
  std::string tensor = "w";
};

TEST_CASE("slices in another order, or two dims that changed places") {
  const auto along = [](std::int64_t inner, Indices order) {
    const std::int64_t n = std::ssize(order);
    return [=](std::int64_t i) {
      const std::int64_t at = i / inner % n;
      return i + (order[static_cast<std::size_t>(at)] - at) * inner;
    };
  };
  const std::string it = "it is the reference in another order along dimension ";
  const Row rows[] = {
      {"rows",
       {4, 6},
       along(6, {3, 0, 2, 1}),
       "permutation",
       it + "0: blocks of 1 are those that stood at 3, 0, 2, 1",
       0,
       {},
       {},
       Indices{3, 0, 2, 1}},
      {"rows rolled",
       {4, 6},
       along(6, {1, 2, 3, 0}),
       "shift",
       it + "0 (shift): blocks of 1 are those that stood at 1, 2, 3, 0",
       0,
       {},
       1,
       Indices{1, 2, 3, 0},
       "position_ids"},
      {"columns",
       {4, 6},
       along(1, {5, 1, 2, 0, 4, 3}),
       "permutation",
       it + "1: blocks of 1 are those that stood at 5, 1, 2, 0, 4, 3",
       1,
       {},
       {},
       Indices{5, 1, 2, 0, 4, 3}},
      {"as they were", {4, 6}, along(6, {0, 1, 2, 3})},
      {"rows, and one number wrong",
       {4, 6},
       [](std::int64_t i) { return i == 7 ? -1 : (i + 6) % 24; }},
      {"numbers alone, in no named order", {6}, along(1, {3, 0, 2, 1, 5, 4})},
      {"in a named one",
       {6},
       along(1, {1, 2, 3, 4, 5, 0}),
       "shift",
       it + "0 (shift): blocks of 1 are those that stood at 1, 2, 3, 4, 5, 0",
       0,
       {},
       1,
       Indices{1, 2, 3, 4, 5, 0}},
      {"transposed",
       {4, 4},
       [](std::int64_t i) { return i % 4 * 4 + i / 4; },
       "transpose",
       "it is the reference transposed"},
      {"the last two of three dims",
       {2, 4, 4},
       [](std::int64_t i) { return i / 16 * 16 + i % 4 * 4 + i / 4 % 4; },
       "transpose",
       "it is the reference transposed (its dimensions 1 and 2)"},
      {"the first two",
       {4, 4, 2},
       [](std::int64_t i) { return i / 2 % 4 * 8 + i / 8 * 2 + i % 2; },
       "transpose",
       "it is the reference transposed (its dimensions 0 and 1)"},
      {"one slice",
       {3, 4, 6},
       [](std::int64_t i) { return i / 24 == 1 ? 24 + (i - 24 + 12) % 24 : i; },
       "glu-halves",
       "its slice 1 is that of the reference in another order along dimension 1 (glu-halves): "
       "blocks of 2 are those that stood at 1, 0",
       1,
       1,
       {},
       Indices{1, 0}},
      {"one slice transposed",
       {2, 4, 4},
       [](std::int64_t i) { return i < 16 ? i % 4 * 4 + i / 4 : i; },
       "transpose",
       "its slice 0 is that of the reference transposed (its dimensions 1 and 2)",
       {},
       0},
      {"a stack of one is all of it",
       {1, 4, 6},
       along(6, {3, 0, 2, 1}),
       "permutation",
       it + "1: blocks of 1 are those that stood at 3, 0, 2, 1",
       1,
       {},
       {},
       Indices{3, 0, 2, 1}},
      {"a row of a matrix is no expert",
       {4, 6},
       [](std::int64_t i) { return i / 6 == 1 ? 6 + (i - 5) % 6 : i; }},
      {"nor can slices of an odd number be told",
       {2, 3, 3},
       [](std::int64_t i) { return i < 9 ? (i + 3) % 9 : i; }},
      {"two slices are no one expert",
       {3, 4, 6},
       [](std::int64_t i) { return i < 48 ? i / 24 * 24 + (i % 24 + 12) % 24 : i; }},
      {"one number", {1}, [](std::int64_t) { return std::int64_t{-1}; }},
      {"a scalar", {}, [](std::int64_t) { return std::int64_t{-1}; }},
      {"one wrong number", {4, 6}, [](std::int64_t i) { return i == 3 ? 9 : i; }},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<double> a, b;
    for (std::int64_t i = 0; i < element_count(row.shape); ++i) {
      a.push_back(number(i));
      const std::int64_t from = row.from(i);
      b.push_back(from < 0 ? number(12345) : number(from));
    }
    tests::PairBeyond pair(row.shape, a, b);
    pair.result.identity.name = row.tensor;
    const auto found = permutation(pair.subject, pair.seen());
    REQUIRE(found.has_value() == !row.name.empty());
    if (!found) continue;
    CHECK(found->code == Code::permutation);
    CHECK(found->hypothesis.name == row.name);
    CHECK(found->hypothesis.residual == 0);
    CHECK(found->penalty == 2);
    CHECK(found->words == row.words);
    CHECK(tests::parameter_of<std::int64_t>(*found, "dimension") == row.dimension);
    CHECK(tests::parameter_of<std::int64_t>(*found, "n") == row.shift);
    CHECK(tests::parameter_of<Indices>(*found, "order") == row.order);
    CHECK(tests::parameter_of<std::int64_t>(*found, "slice") == row.slice);
    const auto dims = tests::parameter_of<Indices>(*found, "dimensions");
    CHECK(dims.has_value() == row.words.ends_with(')'));
    if (dims) CHECK(*dims == (row.words.ends_with("0 and 1)") ? Indices{0, 1} : Indices{1, 2}));
  }
}

TEST_CASE("noise beside, numbers that were lost, and another norm") {
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < 24; ++i) {
    a.push_back(number(i));
    b.push_back(number((i + 6) % 24) + 1e-4 * number(i + 100));
  }
  tests::PairBeyond pair({4, 6}, a, b);
  CHECK_FALSE(permutation(pair.subject, pair.seen()));
  pair.subject.noise = 1e-3;
  const auto found = permutation(pair.subject, pair.seen());
  REQUIRE(found);
  CHECK(found->hypothesis.residual > 1e-5);
  CHECK(found->hypothesis.residual < 1e-3);
  std::vector<double> lost = b, scaled = b;
  lost[3] = std::numeric_limits<double>::quiet_NaN();
  for (double& value : scaled) value *= 1.0625;
  for (const auto& values : {lost, scaled}) {
    tests::PairBeyond other({4, 6}, a, values);
    other.subject.noise = 1e-3;
    CHECK_FALSE(permutation(other.subject, other.seen()));
  }
  for (const std::vector<double>& values : {std::vector<double>{0, 1, 0, 0}, {0, 1, 1, 0}}) {
    tests::PairBeyond zeros({2, 2}, {0, 0, 0, 0}, values);
    CHECK_FALSE(permutation(zeros.subject, zeros.seen()));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> there = {1, 0, 3, 4};
  tests::PairBeyond zero({2, 2}, there, {3, 4, 1, 0}), in_its_place({2, 2}, there, {3, 4, 1, nan});
  CHECK(permutation(zero.subject, zero.seen()));
  CHECK_FALSE(permutation(in_its_place.subject, in_its_place.seen()));
  tests::PairBeyond swapped({2}, {1, 100}, {100, 1});
  CHECK(permutation(swapped.subject, swapped.seen()));
  swapped.result.limit.kind = LimitKind::tolerance;
  swapped.result.limit.rtol = 2;  // 99 is beyond that of 1 alone
  CHECK(swapped.seen().wrong == 1);
  CHECK_FALSE(permutation(swapped.subject, swapped.seen()));
}

TEST_CASE("what is right beside the one wrong slice counts as left") {
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < 48; ++i) {
    a.push_back(number(i));
    b.push_back(i < 24 ? number((i + 12) % 24) : number(i));
  }
  b[47] += 0x1p-10;
  tests::PairBeyond pair({2, 4, 6}, a, b, 1e-2);
  pair.subject.noise = 1e-2;
  const auto found = permutation(pair.subject, pair.seen());
  REQUIRE(found);
  CHECK(tests::parameter_of<std::int64_t>(*found, "slice") == 0);
  CHECK(found->hypothesis.residual ==
        doctest::Approx(0x1p-10 / std::sqrt(pair.seen().sum_a2)).epsilon(1e-3));
}

TEST_CASE("a permutation leaves 30 times less than the error") {
  std::vector<double> a, b;
  double moved2 = 0;
  for (std::int64_t i = 0; i < 48; ++i) {
    a.push_back(number(i));
    b.push_back(i < 24 ? number((i + 12) % 24) : number(i));
    moved2 += (b.back() - a.back()) * (b.back() - a.back());
  }
  // What may pass in the slice by itself counts as moved, too.
  // sqrt(left / a2) is a thirtieth of sqrt((moved + left) / a2) where left is moved / 899.
  for (const double part : {890, 930}) {
    CAPTURE(part);
    std::vector<double> values = b;
    values[47] += std::sqrt(moved2 / part);
    tests::PairBeyond pair({2, 4, 6}, a, values, 5e-2);
    pair.subject.noise = 2e-2;
    CHECK(permutation(pair.subject, pair.seen()).has_value() == (part > 899));
  }
}

/// Of two tensors as large as may be, said to differ by as much as they hold.
bool is_found(const Tensor& reference, const Tensor& candidate, Survey seen = {}) {
  const Mesh mesh;
  const Numbers numbers;
  TensorResult result;
  result.metrics.count = element_count(reference.shape);
  result.metrics.sum_a2 = result.metrics.sum_b2 = result.metrics.sum_d2 = 1;
  result.metrics.max_abs = 1;
  seen.wrong = 2;
  seen.sum_a2 = 1;
  Subject subject;
  subject.pair = {&reference, &candidate};
  subject.result = &result;
  subject.mesh = &mesh;
  subject.numbers = &numbers;
  return permutation(subject, seen).has_value();
}

TEST_CASE("of 2^25 elements at most") {
  for (const std::int64_t columns : {std::int64_t{8}, (std::int64_t{1} << 24) + 1}) {
    const auto row_by_row = [&](const Source& source) {  // a row is one number again and again
      Tensor tensor = tests::tensor_of(source, DType::f32, {2, columns});
      tensor.pieces[0].cells = {Cell{whole(tensor.shape), 0, {1, 0}}};
      return tensor;
    };
    const auto as_it_was = tests::ArraySource::of<float>({1, 2});
    const auto swapped = tests::ArraySource::of<float>({2, 1});
    CHECK(is_found(row_by_row(as_it_was), row_by_row(swapped)) == (columns == 8));
  }
}

TEST_CASE("of a large stack the one slice that is wrong counts") {
  constexpr std::int64_t kMany = std::int64_t{1} << 20, kColumns = 64;
  const Shape shape = {kMany, 2, kColumns};
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < 4 * kColumns; ++i) {
    const std::int64_t swapped = (i + kColumns) % (2 * kColumns);  // behind 2 rows of 64
    numbers.push_back(static_cast<float>(number(i < 2 * kColumns ? i : swapped)));
  }
  const auto source = tests::ArraySource::of(numbers);
  const auto slices = [&](std::int64_t begin, std::int64_t end, std::int64_t start) {
    return Cell{Box{{begin, 0, 0}, {end - begin, 2, kColumns}}, start, {0, kColumns, 1}};
  };
  Tensor reference = tests::tensor_of(source, DType::f32, shape), candidate = reference;
  reference.pieces[0].cells = {slices(0, kMany, 0)};
  candidate.pieces[0].cells = {slices(0, 5, 0), slices(5, 6, 2 * kColumns), slices(6, kMany, 0)};
  Survey seen;
  seen.lo = {5, 0, 0};
  seen.hi = {5, 1, kColumns - 1};
  seen.slices.resize(3);
  seen.slices[0].d2.resize(static_cast<std::size_t>(kMany));
  CHECK(is_found(reference, candidate, seen));
}

TEST_CASE("along no more than 2^20") {
  for (const std::int64_t count : {std::int64_t{8}, (std::int64_t{1} << 20) + 2}) {
    std::vector<float> numbers, rolled;
    for (std::int64_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<float>(i));
      rolled.push_back(static_cast<float>((i + 1) % count));
    }
    const auto a = tests::ArraySource::of(numbers), b = tests::ArraySource::of(rolled);
    for (const Shape& shape : {Shape{count}, Shape{1, count}}) {
      const Tensor reference = tests::tensor_of(a, DType::f32, shape);
      const Tensor candidate = tests::tensor_of(b, DType::f32, shape);
      CHECK(is_found(reference, candidate) == (count == 8));
    }
  }
}

}  // namespace
}  // namespace ttcheck::explain
