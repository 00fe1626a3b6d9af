// SPDX-License-Identifier: Apache-2.0
#include "core/model/decode.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "tests/support/project_file.hpp"

namespace ttcheck {
namespace {

TEST_CASE("codes and rounding are those of ml_dtypes and NumPy") {
  std::ifstream lines(tests::project_file("tests/data/dtypes.txt"));
  REQUIRE(lines);
  std::string what, dtype, first, second;
  int values = 0;
  int rounded = 0;
  while (lines >> what >> dtype >> first >> second) {
    const DType type = dtype_named(dtype).value();
    CAPTURE(dtype);
    CAPTURE(first);
    if (what == "value") {
      const std::uint64_t code = std::strtoull(first.c_str(), nullptr, 16);
      const double expected = std::strtod(second.c_str(), nullptr);
      const double found = value_of(type, code);
      CHECK((std::isnan(expected) ? std::isnan(found) : found == expected));
      if (!std::isnan(expected)) {
        CHECK(std::signbit(found) == std::signbit(expected));
        CHECK(code_of(type, expected) == code);
        CHECK(static_cast<double>(float_table(type)[code]) == expected);
      }
      ++values;
    } else {
      CHECK(code_of(type, std::strtod(first.c_str(), nullptr)) ==
            std::strtoull(second.c_str(), nullptr, 16));
      ++rounded;
    }
  }
  CHECK(values == 6 * 256 - 256 + 2 * 64 + 16);
  CHECK(rounded == 9 * 65);
}

TEST_CASE("every 16-bit code has the value of its formula and comes back") {
  for (unsigned code = 0; code < 65536; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    const int exponent = static_cast<int>((code >> 10) & 31);
    const double mantissa = code & 1023;
    const double sign = code >= 32768 ? -1 : 1;
    if (exponent == 31) {
      REQUIRE((mantissa == 0 ? static_cast<double>(widen_f16(half)) == sign * INFINITY
                             : std::isnan(widen_f16(half))));
    } else {
      const double value = sign * (exponent == 0 ? std::ldexp(mantissa, -24)
                                                 : std::ldexp(1024 + mantissa, exponent - 25));
      REQUIRE(static_cast<double>(widen_f16(half)) == value);
      REQUIRE(value_of(DType::f16, code) == value);
      REQUIRE(code_of(DType::f16, value) == code);
    }
    if (((code >> 7) & 255) != 255) {
      const int wide = static_cast<int>((code >> 7) & 255);
      const double value = sign * (wide == 0 ? std::ldexp(code & 127, -133)
                                             : std::ldexp(128 + (code & 127), wide - 134));
      REQUIRE(static_cast<double>(widen_bf16(half)) == value);
      REQUIRE(code_of(DType::bf16, value) == code);
    }
  }
}

TEST_CASE("packed codes go lowest bits first and back") {
  const std::byte six[] = {std::byte{0x81}, std::byte{0x30}, std::byte{0x10}};
  std::uint8_t codes[4];
  unpack(DType::f6_e2m3, six, 4, codes);
  CHECK(codes[0] == 1);  // 0b000001
  CHECK(codes[1] == 2);  // 0b10 of the first byte, 0b0000 of the second
  CHECK(codes[2] == 3);  // 0b0011 of the second, 0b00 of the third
  CHECK(codes[3] == 4);
  std::byte again[3] = {};
  pack(DType::f6_e2m3, codes, 4, again);
  CHECK(std::equal(six, six + 3, again));
  const std::byte four[] = {std::byte{0x21}, std::byte{0x03}};
  unpack(DType::f4_e2m1, four, 3, codes);
  CHECK(codes[0] == 1);
  CHECK(codes[1] == 2);
  CHECK(codes[2] == 3);
}

TEST_CASE("a power of two alone is rounded to the nearer one, and upwards from the middle") {
  struct Row {
    double value;
    std::uint64_t code;
  };
  const Row rows[] = {
      {0, 0},
      {0x1p-130, 0},
      {0x1p-127, 0},
      {0x1.7ffp-127, 0},
      {0x1.8p-127, 1},
      {0x1p-126, 1},
      {1, 127},
      {0x1.7ffp0, 127},
      {0x1.8p0, 128},  // 1.1 in binary: 10 is
                       // even, 1 is not
      {0x1.8p1, 129},
      {3.5, 129},
      {0x1.7ffp127, 254},
      {0x1.8p127, 0xff},
      {0x1p128, 0xff},
      {INFINITY, 0xff},
      {NAN, 0xff},
      {-1, 0xff},
  };
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(code_of(DType::f8_e8m0, row.value) == row.code);
  }
}

TEST_CASE("integers saturate and round to even") {
  CHECK(code_of(DType::i8, -200) == 0x80);
  CHECK(code_of(DType::u8, 2.5) == 2);
  CHECK(code_of(DType::u8, 3.5) == 4);
  CHECK(code_of(DType::u64, 1e30) == UINT64_MAX);
  CHECK(value_of(DType::i16, 0xffff) == -1);
}

}  // namespace
}  // namespace ttcheck
