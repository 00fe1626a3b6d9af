// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/decode.hpp"
#include "core/model/region.hpp"
#include "core/model/value_flag.hpp"
#include "tests/support/array_source.hpp"

// Byte order and value flags, which copying a region undoes.

namespace ttcheck {
namespace {

using tests::ArraySource;

std::vector<double> numbers_of(DType dtype, const std::vector<std::byte>& bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size()) * 8 / bits(dtype);
  std::vector<double> values(static_cast<std::size_t>(count) * (is_complex(dtype) ? 2 : 1));
  to_doubles(dtype, bytes.data(), count, values.data());
  return values;
}

TEST_CASE("flags are undone, of every element, whatever way it is read") {
  constexpr ValueFlag kNegate = ValueFlag::negate;
  constexpr ValueFlag kConjugate = ValueFlag::conjugate;
  struct Flagged {
    DType dtype;
    ValueFlag flag;
    std::vector<double> stored, expected;
  };
  const std::vector<double> real = {1, -2, 0.5, 0};
  const std::vector<double> minus = {-1, 2, -0.5, 0};
  for (const Flagged& row : std::vector<Flagged>{
           {DType::f16, kNegate, real, minus},
           {DType::bf16, kNegate, real, minus},
           {DType::f32, kNegate, real, minus},
           {DType::f64, kNegate, real, minus},
           {DType::f8_e4m3fn, kNegate, real, minus},
           {DType::f8_e5m2, kNegate, real, minus},
           {DType::f8_e4m3fnuz, kNegate, real, minus},
           {DType::f8_e5m2fnuz, kNegate, real, minus},
           {DType::f32, kConjugate, real, real},
           {DType::f32, ValueFlag::none, real, real},
           {DType::i8, kNegate, {1, -128, 127, 0}, {-1, -128, -127, 0}},
           {DType::i16, kNegate, {1, -300, 256, 0}, {-1, 300, -256, 0}},
           {DType::i32, kNegate, {1, -70000, 65536, 0}, {-1, 70000, -65536, 0}},
           {DType::i64, kNegate, {1, -0x1p40, 0x1p32, 0}, {-1, 0x1p40, -0x1p32, 0}},
           {DType::u8, kNegate, {1, 255, 128, 0}, {255, 1, 128, 0}},
           {DType::i16, kConjugate, {1, -300, 256, 0}, {1, -300, 256, 0}},
           {DType::c32, kConjugate, {1, 2, 3, -4}, {1, -2, 3, 4}},
           {DType::c64, kConjugate, {1, 2, 3, -4}, {1, -2, 3, 4}},
           {DType::c128, kConjugate, {1, 2, 3, -4}, {1, -2, 3, 4}},
           {DType::c64, kNegate, {1, 2, 3, -4}, {-1, -2, -3, 4}},
           {DType::c128, kNegate | kConjugate, {1, 2, 3, -4}, {-1, 2, -3, -4}}}) {
    const std::int64_t count = is_complex(row.dtype) ? 2 : 4;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      INFO(name(row.dtype) << ", big endian: " << (order == ByteOrder::big));
      std::vector<std::byte> stored(byte_size(row.dtype, count));
      from_doubles(row.dtype, row.stored.data(), count, stored.data());
      if (order == ByteOrder::big) {
        const int part = bits(part_of(row.dtype)) / 8;
        for (auto at = stored.begin(); at != stored.end(); at += part) std::reverse(at, at + part);
      }
      const ArraySource source{stored};
      Piece piece;
      piece.source = &source;
      piece.dtype = row.dtype;
      piece.flag = row.flag;
      piece.order = order;
      std::vector<std::byte> out(stored.size());
      copy_region({piece, 0, 0, {{count, 1, 1}}}, out);
      CHECK(numbers_of(row.dtype, out) == row.expected);
      std::fill(out.begin(), out.end(), std::byte{});
      copy_region({piece, 0, 0, {{2, 1, count / 2}, {count / 2, 2, 1}}}, out);
      const std::vector<double> found = numbers_of(row.dtype, out);
      if (count == 4) {
        CHECK(found == std::vector<double>{row.expected[0], row.expected[2], row.expected[1],
                                           row.expected[3]});
      } else {
        CHECK(found == row.expected);
      }
    }
  }
}

TEST_CASE("zero changes its sign with the others, but where there is only one zero") {
  struct Code {
    DType dtype;
    std::uint8_t stored, expected;
  };
  for (const Code& row : std::vector<Code>{{DType::f8_e4m3fn, 0x00, 0x80},
                                           {DType::f8_e4m3fn, 0x80, 0x00},
                                           {DType::f8_e5m2, 0x7f, 0xff},  // a NaN
                                           {DType::f8_e4m3fnuz, 0x00, 0x00},
                                           {DType::f8_e4m3fnuz, 0x80, 0x80},  // the NaN
                                           {DType::f8_e4m3fnuz, 0x01, 0x81},
                                           {DType::f8_e5m2fnuz, 0x80, 0x80},
                                           {DType::f8_e5m2fnuz, 0xff, 0x7f}}) {
    INFO(name(row.dtype) << " " << int{row.stored});
    const ArraySource source{{static_cast<std::byte>(row.stored)}};
    Piece piece;
    piece.source = &source;
    piece.dtype = row.dtype;
    piece.flag = ValueFlag::negate;
    std::vector<std::byte> out(1);
    copy_region({piece, 0, 0, {}}, out);
    CHECK(std::to_integer<int>(out[0]) == row.expected);
  }
}

}  // namespace
}  // namespace ttcheck
