// SPDX-License-Identifier: Apache-2.0
#include "core/model/value_map.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "core/model/decode.hpp"

namespace ttcheck {
namespace {

std::vector<double> applied(const ValueMap& map, DType dtype, const std::vector<double>& numbers) {
  const auto count = std::ssize(numbers) / (is_complex(dtype) ? 2 : 1);
  std::vector<std::byte> stored(static_cast<std::size_t>((count * bits(dtype) + 7) / 8));
  from_doubles(dtype, numbers.data(), count, stored.data());
  apply(map, dtype, count, stored);
  std::vector<double> values(numbers.size());
  to_doubles(dtype, stored.data(), count, values.data());
  return values;
}

TEST_CASE("a value map multiplies, divides and adds in double, then rounds to the dtype") {
  using Values = std::vector<double>;
  CHECK(applied({1, 1, -1}, DType::f32, {1.5, 0.25}) == Values{0.5, -0.75});
  CHECK(applied({2, 1, 0}, DType::f16, {0.5, 40000}) ==
        Values{1, std::numeric_limits<double>::infinity()});
  CHECK(applied({1, 3, 0}, DType::f64, {1}) == Values{1.0 / 3});
  CHECK(applied({1, 1, 1}, DType::bf16, {0.0009765625}) == Values{1});  // below half an ulp of 1
  CHECK(applied({1, 1, 1}, DType::c64, {2, 3}) == Values{3, 3});
  CHECK(applied({2, 1, 1}, DType::c64, {2, 3, 4, 5, 6, 7}) == Values{5, 6, 9, 10, 13, 14});
  Values complex(2 * 1300, 2), doubled(2 * 1300, 4);
  CHECK(applied({2, 1, 0}, DType::c128, complex) == doubled);
  CHECK(applied({2, 1, 0}, DType::f4_e2m1, {0.5, 1, 3, 6, 1, 1, 1, 1, 0.5, 2, 1, 1, 1, 1, 1, 1}) ==
        Values{1, 2, 6, 6, 2, 2, 2, 2, 1, 4, 2, 2, 2, 2, 2, 2});
  const std::vector<double> long_one = applied({1, 1, 1}, DType::f64, Values(1300, 2));
  CHECK(long_one == Values(1300, 3));
}

}  // namespace
}  // namespace ttcheck
