// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/compare/profile_part.hpp"
#include "tests/support/stored_values.hpp"

// What a profile is made from: values, distances, and which elements are not finite.

namespace ttcheck::compare {
namespace {

using tests::stored_values;

using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST_CASE("elements are decoded, and told apart by what is not finite") {
  struct Row {
    const char* what;
    DType dtype_a, dtype_b;
    Doubles stored_a, stored_b;  ///< none of b: alone
    Doubles a, b, d;
    std::vector<int> taken;
  };
  using enum DType;
  const Doubles none(8, 0);
  for (const Row& row : std::vector<Row>{
           {"alone",
            f32,
            f32,
            {1, -2, kNan, -kInfinity},
            {},
            {1, -2, 0, 0},
            {},
            none,
            {0, 0, 1, 1}},
           {"a pair",
            f32,
            f32,
            {1, -2, 3},
            {1, 2, 2.5},
            {1, -2, 3},
            {1, 2, 2.5},
            {0, 4, 0.5},
            {0, 0, 0}},
           {"of two dtypes", bf16, f32, {1, 2}, {1.5, 2}, {1, 2}, {1.5, 2}, {0.5, 0}, {0, 0}},
           {"not finite",
            f32,
            f32,
            {kNan, kNan, 1, kInfinity, kInfinity, -kInfinity, kInfinity, kNan},
            {kNan, 1, kNan, kInfinity, -kInfinity, -kInfinity, 2, -kInfinity},
            none,
            none,
            none,
            {1, 2, 2, 1, 2, 1, 2, 2}},
           {"wide integers", i64, i64, {5, -3}, {3, 4}, {5, -3}, {3, 4}, {2, 7}, {0, 0}},
           {"wide and another", i64, f64, {5, -3}, {3.5, 4}, {5, -3}, {3.5, 4}, {1.5, 7}, {0, 0}},
           {"complex", c64, c64, {3, 4, 0, 1}, {3, -4, 0, 1}, {5, 1}, {5, 1}, {8, 0}, {0, 0}},
           {"complex, alone",
            c64,
            c64,
            {3, 4, kNan, 1, 1, kInfinity},
            {},
            {5, 0, 0},
            {},
            none,
            {0, 1, 1}},
           {"complex, not finite",
            c128,
            c128,
            {kNan, 1, kNan, 1, 1, kInfinity, kInfinity, 2, 1, 1, 7, kNan},
            {kNan, 2, 1, kNan, 1, -kInfinity, kInfinity, 3, 1, kNan, 8, kNan},
            none,
            none,
            none,
            {1, 2, 2, 1, 2, 1}}}) {
    INFO(row.what);
    const auto count = static_cast<int>(row.taken.size());
    const auto values = std::make_unique<ProfiledValues>();
    values->d.fill(9);  // of the block before
    values->taken.fill(2);
    decode_values(row.dtype_a, stored_values(row.dtype_a, row.stored_a), row.dtype_b,
                  stored_values(row.dtype_b, row.stored_b), count, *values);
    REQUIRE(values->count == count);
    for (std::size_t i = 0; i < row.taken.size(); ++i) {
      CAPTURE(i);
      CHECK(values->a[i] == row.a[i]);
      if (!row.b.empty()) CHECK(values->b[i] == row.b[i]);
      CHECK(values->d[i] == row.d[i]);
      CHECK(int{values->taken[i]} == row.taken[i]);
    }
  }
}

TEST_CASE("differences of wide integers are exact where doubles are not") {
  const auto distance = [](DType dtype, std::uint64_t a, std::uint64_t b) {
    const auto values = std::make_unique<ProfiledValues>();
    decode_values(dtype, std::as_bytes(std::span(&a, 1)), dtype, std::as_bytes(std::span(&b, 1)), 1,
                  *values);
    return values->d[0];
  };
  const std::uint64_t exact = std::uint64_t{1} << 53;
  const std::uint64_t top = std::uint64_t{1} << 63;
  CHECK(distance(DType::i64, exact, exact + 1) == 1);
  CHECK(distance(DType::i64, exact + 1, exact) == 1);
  CHECK(distance(DType::i64, ~std::uint64_t{0}, 1) == 2);
  CHECK(distance(DType::i64, top, top - 1) == 0x1p64);
  CHECK(distance(DType::u64, top, top + 1) == 1);
  CHECK(distance(DType::u64, ~std::uint64_t{0}, 1) == 0x1p64);
}

}  // namespace
}  // namespace ttcheck::compare
