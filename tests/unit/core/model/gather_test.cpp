// SPDX-License-Identifier: Apache-2.0
#include "core/model/gather.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "core/model/decode.hpp"
#include "core/model/value_flag.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck {
namespace {

using tests::ArraySource;
using tests::tensor_of;

template <class T>
std::vector<T> read(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  std::vector<T> out(static_cast<std::size_t>(count));
  gather(tensor, begin, count, std::as_writable_bytes(std::span(out)));
  return out;
}

std::vector<std::int32_t> counting(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// The element of a one-cell tensor by the definition of Cell.
std::int32_t by_definition(const Cell& cell, const Extents& index) {
  std::int64_t at = cell.start;
  for (std::size_t d = 0; d < index.size(); ++d)
    at += (index[d] - cell.box.lo[d]) * cell.strides[d];
  return static_cast<std::int32_t>(at);
}

TEST_CASE("any strides, any range: each element is where its cell says") {
  const ArraySource source = ArraySource::of(counting(4000));
  const Shape shape{5, 6, 7};
  const std::vector<std::pair<std::int64_t, Extents>> layouts = {
      {0, {42, 7, 1}}, {3, {1, 5, 30}}, {0, {6, 1, 30}},   {209, {-42, -7, -1}},
      {10, {0, 7, 1}}, {0, {0, 0, 0}},  {5, {700, 14, 2}}, {400, {-1, 90, 5}}};
  for (const auto& [start, strides] : layouts) {
    Tensor tensor = tensor_of(source, DType::i32, shape);
    const Cell cell{whole(shape), start, strides};
    tensor.pieces[0].cells = {cell};
    for (const auto& [begin, count] :
         std::vector<std::pair<int, int>>{{0, 210}, {1, 5}, {41, 3}, {13, 150}}) {
      const auto values = read<std::int32_t>(tensor, begin, count);
      for (int i = 0; i < count; ++i) {
        REQUIRE(values[static_cast<std::size_t>(i)] ==
                by_definition(cell, unravel(shape, begin + i)));
      }
    }
  }
}

TEST_CASE("a transposed tensor larger than a slab comes out right") {
  const std::int64_t n = 700;
  const ArraySource source = ArraySource::of(counting(static_cast<std::size_t>(n * n)));
  Tensor tensor = tensor_of(source, DType::i32, {n, n});
  tensor.pieces[0].cells = {{whole({n, n}), 0, {1, n}}};
  const auto values = read<std::int32_t>(tensor, 0, n * n);
  bool right = true;
  for (std::int64_t i = 0; i < n * n; ++i) {
    right = right && values[static_cast<std::size_t>(i)] == i % n * n + i / n;
  }
  CHECK(right);
}

TEST_CASE("holes read as zeros, pieces fill their boxes") {
  const ArraySource source = ArraySource::of(counting(100));
  Tensor tensor = tensor_of(source, DType::i32, {4, 4});
  tensor.pieces[0].cells = {{{{0, 0}, {2, 2}}, 10, {2, 1}}, {{{3, 1}, {1, 3}}, 50, {3, 1}}};
  tensor.holes = {{{0, 2}, {2, 2}}, {{2, 0}, {1, 4}}, {{3, 0}, {1, 1}}};
  CHECK(read<std::int32_t>(tensor, 0, 16) ==
        std::vector<std::int32_t>{10, 11, 0, 0, 12, 13, 0, 0, 0, 0, 0, 0, 0, 50, 51, 52});
  CHECK(ranges_in(tensor.holes, tensor.shape, 0, 16) == std::vector<LinearRange>{{2, 4}, {6, 13}});
  CHECK(ranges_in(tensor.holes, tensor.shape, 3, 8) == std::vector<LinearRange>{{3, 4}, {6, 8}});
}

TEST_CASE("any range of many boxes, empty ones among them") {
  const ArraySource source = ArraySource::of(counting(100));
  for (const Shape& shape : {Shape{12}, Shape{4, 3}, Shape{3, 4}, Shape{2, 3, 2}, Shape{1, 12}}) {
    Tensor tensor = tensor_of(source, DType::i32, shape);
    tensor.pieces[0].cells.clear();
    const std::int64_t rows = shape[0] > 1 ? shape[0] : shape[1];
    const std::size_t dim = shape[0] > 1 ? 0 : 1;
    std::vector<Box> boxes;
    for (std::int64_t row = 0; row < rows; ++row) {  // row r starts at element 20 - r of the source
      Box box = whole(shape);
      box.lo[dim] = row;
      box.size[dim] = 0;
      tensor.pieces[0].cells.push_back({box, 99, row_major_strides(shape)});
      box.size[dim] = 1;
      tensor.pieces[0].cells.push_back({box, 20 - row, row_major_strides(box.size)});
      boxes.push_back(box);
    }
    const std::int64_t width = 12 / rows;
    for (std::int64_t begin = 0; begin < 12; ++begin) {
      for (std::int64_t end = begin + 1; end <= 12; ++end) {
        std::vector<std::int32_t> wanted;
        for (std::int64_t i = begin; i < end; ++i) {
          wanted.push_back(static_cast<std::int32_t>(20 - i / width + i % width));
        }
        CHECK(read<std::int32_t>(tensor, begin, end - begin) == wanted);
        CHECK(ranges_in(boxes, shape, begin, end) == std::vector<LinearRange>{{begin, end}});
      }
    }
  }
}

TEST_CASE("byte order and value flags are undone") {
  const ArraySource big =
      ArraySource::of(std::vector<std::uint8_t>{0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0});
  Tensor tensor = tensor_of(big, DType::f32, {2});
  tensor.pieces[0].order = ByteOrder::big;
  CHECK(read<float>(tensor, 0, 2) == std::vector<float>{1, -2});
  tensor.pieces[0].flag = ValueFlag::negate;
  CHECK(read<float>(tensor, 0, 2) == std::vector<float>{-1, 2});
  const ArraySource pair = ArraySource::of(std::vector<float>{1, 2, 3, -4});
  Tensor complex = tensor_of(pair, DType::c64, {2});
  complex.pieces[0].flag = ValueFlag::conjugate;
  std::vector<float> parts(4);
  gather(complex, 0, 2, std::as_writable_bytes(std::span(parts)));
  CHECK(parts == std::vector<float>{1, -2, 3, 4});
  complex.pieces[0].flag = ValueFlag::conjugate | ValueFlag::negate;
  gather(complex, 0, 2, std::as_writable_bytes(std::span(parts)));
  CHECK(parts == std::vector<float>{-1, 2, -3, -4});
  const ArraySource integers = ArraySource::of(std::vector<std::int16_t>{5, -7});
  Tensor negated = tensor_of(integers, DType::i16, {2});
  negated.pieces[0].flag = ValueFlag::negate;
  CHECK(read<std::int16_t>(negated, 0, 2) == std::vector<std::int16_t>{-5, 7});
  const ArraySource codes = ArraySource::of<std::uint8_t>({0, 0x80, 0x01, 0xff});  // 0, NaN, +, -
  Tensor fnuz = tensor_of(codes, DType::f8_e5m2fnuz, {4});
  fnuz.pieces[0].flag = ValueFlag::negate;
  CHECK(read<std::uint8_t>(fnuz, 0, 4) == std::vector<std::uint8_t>{0, 0x80, 0x81, 0x7f});
}

TEST_CASE("packed elements are gathered by bits") {
  for (const DType dtype : {DType::f4_e2m1, DType::f6_e3m2}) {
    std::vector<std::uint8_t> codes(64);
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::uint8_t>(i % (1U << bits(dtype)));
    std::vector<std::byte> packed(byte_size(dtype, 64));
    pack(dtype, codes.data(), 64, packed.data());
    const ArraySource source{packed};
    Tensor tensor = tensor_of(source, dtype, {8, 8});
    std::vector<std::byte> out(byte_size(dtype, 64));
    gather(tensor, 0, 64, out);
    CHECK(out == packed);
    tensor.pieces[0].cells = {{whole({8, 8}), 0, {1, 8}}};
    gather(tensor, 0, 64, out);
    std::vector<std::uint8_t> found(64);
    unpack(dtype, out.data(), 64, found.data());
    for (std::size_t i = 0; i < 64; ++i) REQUIRE(found[i] == codes[i % 8 * 8 + i / 8]);
    tensor.pieces[0].flag = ValueFlag::negate;
    CHECK_THROWS_AS(gather(tensor, 0, 64, out), Error);
  }
}

TEST_CASE("terms are reduced in double and rounded once") {
  const ArraySource one = ArraySource::of(std::vector<std::uint16_t>{0x3f80, 0x3f80});  // 1, 1
  const ArraySource two = ArraySource::of(std::vector<std::uint16_t>{0x3b80, 0x3b80});  // 2^-8
  const ArraySource three =
      ArraySource::of(std::vector<std::uint16_t>{0x3b80, 0xbb80});  // 2^-8, -2^-8
  Tensor tensor = tensor_of(one, DType::bf16, {2});
  tensor.reduce = Reduce::sum;
  for (const ArraySource* source : {&one, &two, &three}) {
    tensor.terms.push_back(tensor_of(*source, DType::bf16, {2}).pieces);
  }
  tensor.pieces.clear();
  // 1 + 2^-7 is the next bf16 after 1; rounding after each addition would have stayed at 1.
  CHECK(read<std::uint16_t>(tensor, 0, 2) == std::vector<std::uint16_t>{0x3f81, 0x3f80});
  tensor.reduce = Reduce::max;
  CHECK(read<std::uint16_t>(tensor, 0, 2) == std::vector<std::uint16_t>{0x3f80, 0x3f80});
  tensor.reduce = Reduce::avg;
  CHECK(read<std::uint16_t>(tensor, 0, 1)[0] == code_of(DType::bf16, (1 + 0x1p-7) / 3));
  tensor.mean_of = 2;  // of some axes, summed over others
  CHECK(read<std::uint16_t>(tensor, 0, 1)[0] == code_of(DType::bf16, (1 + 0x1p-7) / 2));
}

TEST_CASE("a piece of another dtype or beyond its source is an error") {
  const ArraySource source = ArraySource::of(counting(4));
  Tensor tensor = tensor_of(source, DType::i32, {5});
  CHECK_THROWS_AS(read<std::int32_t>(tensor, 0, 5), Error);
  tensor = tensor_of(source, DType::i32, {4});
  tensor.dtype = DType::f32;
  CHECK_THROWS_AS(read<std::int32_t>(tensor, 0, 4), Error);
}

}  // namespace
}  // namespace ttcheck
