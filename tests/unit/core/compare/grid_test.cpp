// SPDX-License-Identifier: Apache-2.0
#include "core/compare/grid.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

/// Values with all bits of a float, and the same cut to the upper 16 bits of each.
std::vector<float> fine(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 1.2345678F / static_cast<float>(i + 1);
  return values;
}

std::vector<float> coarse(std::vector<float> values) {
  for (float& value : values) {
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000U);
  }
  return values;
}

std::optional<Grid> look(const std::vector<float>& a, const std::vector<float>& b) {
  const ArraySource left = ArraySource::of(a), right = ArraySource::of(b);
  const auto count = static_cast<std::int64_t>(a.size());
  return coarser_grid(tensor_of(left, DType::f32, {count}), tensor_of(right, DType::f32, {count}));
}

TEST_CASE("values that were rounded to bf16 lie on its grid, where the reference's are finer") {
  const auto found = look(fine(100), coarse(fine(100)));
  REQUIRE(found);
  CHECK(found->name == "bf16");
  CHECK_FALSE(look(fine(100), fine(100)));
  CHECK_FALSE(look(coarse(fine(100)), coarse(fine(100))));
  CHECK_FALSE(look(coarse(fine(100)), fine(100)));
}

TEST_CASE("one finer value is enough to be on no grid, and a few values are not enough") {
  auto nearly = coarse(fine(100));
  nearly[99] = fine(100)[99];
  CHECK_FALSE(look(fine(100), nearly));
  CHECK_FALSE(look(fine(7), coarse(fine(7))));
  CHECK(look(fine(8), coarse(fine(8))));
}

TEST_CASE("zeros lie on every grid and do not count") {
  std::vector<float> zeros(100, 0.0F);
  CHECK_FALSE(look(fine(100), zeros));
  auto values = coarse(fine(100));
  for (std::size_t i = 8; i < values.size(); ++i) values[i] = 0;
  CHECK(look(fine(100), values));
}

TEST_CASE("a reference of which most is coarse, too, proves nothing") {
  auto mostly = coarse(fine(100));
  for (std::size_t i = 0; i < 40; ++i) mostly[i] = fine(100)[i];
  CHECK_FALSE(look(mostly, coarse(fine(100))));
}

TEST_CASE("values of a type as narrow as the grid say nothing") {
  const std::vector<std::uint16_t> ones(100, 0x3F81);
  const ArraySource source = ArraySource::of(ones);
  const Tensor tensor = tensor_of(source, DType::bf16, {100});
  const std::vector<float> values = fine(100);
  const ArraySource longer = ArraySource::of(values);
  CHECK_FALSE(coarser_grid(tensor_of(longer, DType::f32, {100}), tensor));
}

TEST_CASE("what one rank holds is found behind what it does not") {
  constexpr std::int64_t count = 300'000, from = 299'000;
  const std::vector<float> values = fine(count);
  const ArraySource reference = ArraySource::of(values);
  const std::vector<float> tail(values.begin() + from, values.end());
  for (const bool is_coarse : {true, false}) {
    const ArraySource source = ArraySource::of(is_coarse ? coarse(tail) : tail);
    Tensor part = tensor_of(source, DType::f32, {count});
    part.pieces.front().cells = {{{{from}, {count - from}}, 0, {1}}};
    part.holes = {{{0}, {from}}};
    CHECK(coarser_grid(tensor_of(reference, DType::f32, {count}), part).has_value() == is_coarse);
  }
}

}  // namespace
}  // namespace ttcheck::compare
