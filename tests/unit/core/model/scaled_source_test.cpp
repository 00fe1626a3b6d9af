// SPDX-License-Identifier: Apache-2.0
#include "core/model/scaled_source.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/decode.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::ArraySource;
using tests::error_of;
using tests::tensor_of;

std::vector<std::int8_t> counting(std::int64_t count) {
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int8_t>(i % 251 - 125));
  return values;
}

/// Numbers, scales, and the sources of both.
struct Blocks {
  Blocks(const Shape& stored_shape, const Extents& block, double factor)
      : numbers(counting(element_count(stored_shape))) {
    for (std::size_t d = 0; d < stored_shape.size(); ++d)
      grid.push_back((stored_shape[d] + block[d] - 1) / block[d]);
    for (std::int64_t i = 0; i < element_count(grid); ++i)
      scales.push_back(0.1F * static_cast<float>(i + 1));
    stored = ArraySource::of(numbers);
    scale = ArraySource::of(scales);
    scaled = {tensor_of(stored, DType::i8, stored_shape), tensor_of(scale, DType::f32, grid), block,
              factor};
  }

  /// Every element by the definition: its number times the scale of its block times the factor.
  std::vector<float> expected() const {
    std::vector<float> values;
    for (std::int64_t i = 0; i < std::ssize(numbers); ++i) {
      Extents at = unravel(scaled.stored.shape, i);
      for (std::size_t d = 0; d < at.size(); ++d) at[d] /= scaled.block[d];
      const double by =
          static_cast<double>(scales[static_cast<std::size_t>(linear_index(grid, at))]);
      values.push_back(
          static_cast<float>(numbers[static_cast<std::size_t>(i)] * (by * scaled.factor)));
    }
    return values;
  }

  std::vector<std::int8_t> numbers;
  Shape grid;
  std::vector<float> scales;
  ArraySource stored{{}}, scale{{}};
  Scaled scaled;
};

/// Bytes [offset, offset + size) of the source.
std::vector<std::byte> bytes_of(const Source& source, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> out(size);
  source.read(offset, out);
  return out;
}

bool holds(const ScaledSource& source, const std::vector<float>& expected, std::size_t offset,
           std::size_t size) {
  const auto found = bytes_of(source, offset, size);
  return size == 0 ||
         std::memcmp(found.data(), reinterpret_cast<const std::byte*>(expected.data()) + offset,
                     size) == 0;
}

TEST_CASE("every byte of any range is that of number x scale of its block x factor") {
  struct Row {
    Shape shape;
    Extents block;
    double factor;
  };
  for (const Row& row : std::vector<Row>{{{}, {}, 1},
                                         {{}, {}, 0.3},
                                         {{0}, {2}, 1},
                                         {{4, 0}, {2, 2}, 1},
                                         {{1}, {1}, 1},
                                         {{7}, {1}, 1},
                                         {{7}, {3}, 1},
                                         {{7}, {7}, 2},
                                         {{7}, {100}, 1},
                                         {{4, 6}, {2, 3}, 1},
                                         {{5, 7}, {2, 3}, 0.3},  // cut short both ways
                                         {{5, 7}, {1, 7}, 1},    // a scale a row
                                         {{5, 7}, {5, 1}, 1},    // a scale a column
                                         {{5, 7}, {5, 7}, 1},
                                         {{2, 3, 4}, {1, 2, 3}, 1},
                                         {{3, 4, 5}, {2, 1, 2}, 1},
                                         {{3, 2, 2, 3}, {2, 2, 1, 2}, 1}}) {
    const Blocks made(row.shape, row.block, row.factor);
    const ScaledSource source(made.scaled);
    const std::vector<float> expected = made.expected();
    const std::size_t size = expected.size() * sizeof(float);
    INFO(row.shape.size() << " dims, " << size << " bytes");
    REQUIRE(source.size() == size);
    bool right = true;
    for (std::size_t offset = 0; offset <= size; ++offset) {
      for (std::size_t end = offset; end <= size; ++end)
        right = right && holds(source, expected, offset, end - offset);
    }
    CHECK(right);
  }
}

TEST_CASE("ranges larger than what is decoded at once") {
  const Blocks made({3, 50000}, {2, 128}, 1);
  const ScaledSource source(made.scaled);
  const std::vector<float> expected = made.expected();
  const std::size_t size = expected.size() * sizeof(float);
  const std::size_t piece = sizeof(float) << 16;
  for (const auto& [offset, count] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, size},
                                                        {1, size - 1},
                                                        {3, piece - 3},
                                                        {3, piece},
                                                        {2, 2 * piece + 1},
                                                        {199999, piece + 4},
                                                        {size - piece - 5, piece + 5}}) {
    INFO(offset << " + " << count);
    CHECK(holds(source, expected, offset, count));
  }
}

TEST_CASE("products are rounded once, and need not be finite") {
  const std::vector<float> scales = {0x1p-149F, 3e38F, std::numeric_limits<float>::infinity(),
                                     std::nanf("")};
  const auto scale = ArraySource::of(scales);
  const auto stored = ArraySource::of(std::vector<std::int8_t>{3, 100, -1, 1});
  const ScaledSource source(
      {tensor_of(stored, DType::i8, {4}), tensor_of(scale, DType::f32, {4}), {1}, 0.5});
  std::vector<float> found(4);
  source.read(0, std::as_writable_bytes(std::span(found)));
  CHECK(found[0] == 0x1p-148F);  // 1.5 steps of 2^-149, to even
  CHECK(found[1] == std::numeric_limits<float>::infinity());
  CHECK(found[2] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(found[3]));
}

TEST_CASE("a range beyond the end is refused") {
  const Blocks made({2, 3}, {1, 3}, 1);
  const ScaledSource source(made.scaled);
  CHECK(bytes_of(source, 24, 0).empty());
  CHECK(error_of([&] { (void)bytes_of(source, 24, 1); }) ==
        "memory:0x0: 1 bytes are wanted at 24, there are 24");
  CHECK(error_of([&] { (void)bytes_of(source, 25, 0); }) ==
        "memory:0x0: 0 bytes are wanted at 25, there are 24");
  CHECK(error_of([&] { (void)bytes_of(source, 20, 5); }) ==
        "memory:0x0: 5 bytes are wanted at 20, there are 24");
}

TEST_CASE("the place of a byte is that of its number, where numbers lie in a row") {
  Blocks made({2, 8}, {1, 8}, 1);
  made.scaled.stored.pieces[0].offset = 4;
  CHECK(ScaledSource(made.scaled).where(0) == Where{"memory", 4, ""});
  CHECK(ScaledSource(made.scaled).where(3) == Where{"memory", 4, ""});
  CHECK(ScaledSource(made.scaled).where(20) == Where{"memory", 9, ""});
  made.scaled.stored.pieces[0].cells = {{{{0, 0}, {2, 8}}, 0, {1, 2}}};
  CHECK(ScaledSource(made.scaled).where(20) == Where{"memory", 4, ""});
  made.scaled.stored.pieces.clear();
  CHECK(ScaledSource(made.scaled).where(20) == Where{});
}

TEST_CASE("it is read front to back where some piece is") {
  Blocks made({2, 8}, {1, 8}, 1);
  ArraySource stream{{}};
  stream.in_order = true;
  CHECK_FALSE(ScaledSource(made.scaled).sequential());
  Piece piece;
  piece.source = &stream;
  made.scaled.stored.pieces.push_back(piece);
  CHECK(ScaledSource(made.scaled).sequential());
}

TEST_CASE("the largest finite magnitude") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> many(3 << 16, 1);
  many[(2 << 16) - 1] = -5;
  std::vector<float> late = many;
  late.push_back(-6);
  struct Row {
    std::vector<float> values;
    double largest;
  };
  for (const Row& row : std::vector<Row>{{{}, 0},
                                         {{0, -0.0F}, 0},
                                         {{std::nanf(""), infinity, -infinity}, 0},
                                         {{1, -3, 2}, 3},
                                         {{1, infinity, 2, std::nanf("")}, 2},
                                         {{-0x1p-149F}, 0x1p-149},
                                         {many, 5},
                                         {late, 6}}) {
    const auto source = ArraySource::of(row.values);
    CHECK(largest_magnitude(tensor_of(source, DType::f32, {std::ssize(row.values)})) ==
          row.largest);
  }
}

}  // namespace
}  // namespace ttcheck
