// SPDX-License-Identifier: Apache-2.0
#include "core/compare/values.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;  // begin, count

TEST_CASE("ranges of one size, in order, the last one shorter") {
  for (const auto& [count, expected] : std::vector<std::pair<std::int64_t, Ranges>>{
           {0, {}},
           {1, {{0, 1}}},
           {65535, {{0, 65535}}},
           {65536, {{0, 65536}}},
           {65537, {{0, 65536}, {65536, 1}}},
           {200000, {{0, 65536}, {65536, 65536}, {131072, 65536}, {196608, 3392}}}}) {
    INFO(count);
    Ranges seen;
    for_ranges(count, {}, [&](std::int64_t begin, std::int64_t n) { seen.emplace_back(begin, n); });
    CHECK(seen == expected);
  }
}

TEST_CASE("stop is asked before each range, and what is left is not visited") {
  for (const int stop_at : {0, 1, 2, 3}) {
    INFO(stop_at);
    int asked = 0;
    int visited = 0;
    const auto walk = [&] {
      for_ranges(
          3 * kValuesRange, [&] { return asked++ == stop_at; },
          [&](std::int64_t, std::int64_t) { ++visited; });
    };
    if (stop_at < 3) {
      CHECK_THROWS_AS(walk(), Stopped);
    } else {
      walk();
    }
    CHECK(visited == stop_at);
    CHECK(asked == std::min(stop_at + 1, 3));
  }
}

TEST_CASE("elements are decoded from where they begin, of any dtype") {
  std::vector<std::int16_t> numbers(100);
  std::iota(numbers.begin(), numbers.end(), std::int16_t{-50});
  const auto integers = ArraySource::of(numbers);
  const Tensor tensor = tensor_of(integers, DType::i16, {4, 25});
  Values values(tensor);
  for (const auto& [begin, count] : Ranges{{0, 100}, {3, 5}, {99, 1}, {10, 90}, {7, 0}}) {
    const auto found = values.read(begin, count);
    REQUIRE(std::ssize(found) == count);
    for (std::int64_t i = 0; i < count; ++i)
      CHECK(found[static_cast<std::size_t>(i)] == static_cast<double>(begin + i - 50));
  }
  const ArraySource packed{std::vector<std::byte>(8, std::byte{0x42})};  // codes 2, 4: 1 and 2
  const Tensor small = tensor_of(packed, DType::f4_e2m1, {16});
  Values codes(small);
  const auto found = codes.read(8, 8);
  CHECK(std::vector<double>(found.begin(), found.end()) ==
        std::vector<double>{1, 2, 1, 2, 1, 2, 1, 2});
}

}  // namespace
}  // namespace ttcheck::compare
