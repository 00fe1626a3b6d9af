// SPDX-License-Identifier: Apache-2.0
#include "core/base/checked.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::error_of;

template <class T>
constexpr T kMost = std::numeric_limits<T>::max();
template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();

/// What each operation gives; nothing: it is refused.
template <class T>
struct Arithmetic {
  T a, b;
  std::optional<T> sum, difference, product;
};

template <class T>
void check(const std::vector<Arithmetic<T>>& rows) {
  const auto one = [](const std::optional<T>& expected, const auto& operation, const char* what) {
    INFO(what);
    std::optional<T> found;
    const std::string said = error_of([&] { found = operation(); });
    CHECK(found == expected);
    CHECK(said == (expected ? "" : std::string(what) + " overflows"));
  };
  for (const Arithmetic<T>& row : rows) {
    INFO(+row.a << " and " << +row.b);
    one(row.sum, [&] { return checked_add(row.a, row.b); }, "sum");
    one(row.difference, [&] { return checked_sub(row.a, row.b); }, "difference");
    one(row.product, [&] { return checked_mul(row.a, row.b); }, "product");
  }
}

TEST_CASE("sums, differences and products are right or refused") {
  constexpr auto kNone = std::nullopt;
  constexpr auto kMax = kMost<std::int64_t>;
  constexpr auto kMin = kLeast<std::int64_t>;
  check<std::int64_t>(
      {{5, 3, 8, 2, 15},
       {kMax, 0, kMax, kMax, 0},
       {kMax, 1, kNone, kMax - 1, kMax},
       {kMax - 1, 1, kMax, kMax - 2, kMax - 1},
       {kMin, -1, kNone, kMin + 1, kNone},
       {kMin, 1, kMin + 1, kNone, kMin},
       {kMax, -1, kMax - 1, kNone, -kMax},
       {0, kMin, kMin, kNone, 0},
       {-1, kMin, kNone, kMax, kNone},
       {std::int64_t{1} << 32, std::int64_t{1} << 31,
        (std::int64_t{1} << 32) + (std::int64_t{1} << 31), std::int64_t{1} << 31, kNone},
       {3037000499, 3037000499, 6074000998, 0, 9223372030926249001},
       {3037000500, 3037000500, 6074001000, 0, kNone}});  // just beyond sqrt(2^63)
  constexpr auto kMaxU = kMost<std::uint64_t>;
  check<std::uint64_t>({{kMaxU, 0, kMaxU, kMaxU, 0},
                        {kMaxU, 1, kNone, kMaxU - 1, kMaxU},
                        {0, 1, 1, kNone, 0},
                        {1, 1, 2, 0, 1},
                        {4294967295, 4294967297, 8589934592, kNone, kMaxU},
                        {4294967296, 4294967296, 8589934592, 0, kNone}});
  check<std::int8_t>(
      {{100, 27, 127, 73, kNone}, {100, 28, kNone, 72, kNone}, {-16, 8, -8, -24, -128}});
}

TEST_CASE("a number becomes another type where it fits") {
  CHECK(checked_cast<std::int8_t>(127) == 127);
  CHECK(checked_cast<std::int8_t>(-128) == -128);
  CHECK(error_of([] { (void)checked_cast<std::int8_t>(128); }) == "number does not fit");
  CHECK(error_of([] { (void)checked_cast<std::int8_t>(-129); }) == "number does not fit");
  CHECK(checked_cast<std::uint64_t>(std::int64_t{0}) == 0);
  CHECK(error_of([] { (void)checked_cast<std::uint64_t>(std::int64_t{-1}); }) ==
        "number does not fit");
  const std::uint64_t half = std::uint64_t{1} << 63;
  CHECK(checked_cast<std::int64_t>(half - 1) == kMost<std::int64_t>);
  CHECK(error_of([&] { (void)checked_cast<std::int64_t>(half); }) == "number does not fit");
}

TEST_CASE("quotients are rounded up") {
  struct Row {
    std::int64_t a, b, expected;
  };
  constexpr auto kMax = kMost<std::int64_t>;
  for (const Row& row : std::vector<Row>{{0, 3, 0},
                                         {1, 3, 1},
                                         {2, 3, 1},
                                         {3, 3, 1},
                                         {4, 3, 2},
                                         {6, 3, 2},
                                         {7, 1, 7},
                                         {kMax, 1, kMax},
                                         {kMax, 2, std::int64_t{1} << 62},
                                         {kMax, kMax, 1},
                                         {kMax - 1, kMax, 1}}) {
    INFO(row.a << " / " << row.b);
    CHECK(ceil_div(row.a, row.b) == row.expected);
  }
}

TEST_CASE("products of extents: a negative one is worse than an overflow, a zero undoes one") {
  struct Row {
    std::vector<std::int64_t> factors;
    std::int64_t expected;
    std::string said;
  };
  constexpr auto kMax = kMost<std::int64_t>;
  constexpr auto kMin = kLeast<std::int64_t>;
  for (const Row& row : std::vector<Row>{
           {{}, 1, ""},
           {{7}, 7, ""},
           {{2, 3, 4}, 24, ""},
           {{0}, 0, ""},
           {{kMax}, kMax, ""},
           {{kMax, 1}, kMax, ""},
           {{kMax, 2}, -1, "product overflows"},
           {{kMax, kMax, kMax}, -1, "product overflows"},
           {{std::int64_t{1} << 32, std::int64_t{1} << 32, 3}, -1, "product overflows"},
           {{kMax, 2, 0}, 0, ""},
           {{0, kMax, 2}, 0, ""},
           {{-1}, -1, "negative extent -1"},
           {{2, -3}, -1, "negative extent -3"},
           {{0, -5}, -1, "negative extent -5"},
           {{kMax, 2, kMin}, -1, "negative extent -9223372036854775808"}}) {
    std::int64_t found = -1;
    CHECK(error_of([&] { found = checked_product(row.factors); }) == row.said);
    CHECK(found == row.expected);
  }
}

TEST_CASE("a range lies within a size, though its end overflows") {
  struct Row {
    std::uint64_t offset, count, size;
    bool expected;
  };
  constexpr auto kMax = kMost<std::uint64_t>;
  for (const Row& row : std::vector<Row>{{0, 0, 0, true},
                                         {0, 1, 0, false},
                                         {1, 0, 0, false},
                                         {3, 7, 10, true},
                                         {3, 8, 10, false},
                                         {10, 0, 10, true},
                                         {11, 0, 10, false},
                                         {10, 1, 10, false},
                                         {kMax, 0, kMax, true},
                                         {kMax, 1, kMax, false},
                                         {1, kMax, kMax, false},
                                         {2, kMax - 1, kMax, false},
                                         {1, kMax - 1, kMax, true},
                                         {5, kMax - 3, 10, false}}) {
    INFO(row.offset << " + " << row.count << " of " << row.size);
    CHECK(within(row.offset, row.count, row.size) == row.expected);
  }
}

}  // namespace
}  // namespace ttcheck
