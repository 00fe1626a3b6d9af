// SPDX-License-Identifier: Apache-2.0
// The AVX-512 kernels against the scalar ones, on a processor that need not have AVX-512: they run
// on SIMDe (tests/emulation/avx512.cpp). Built where SIMDe is found.

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/compare/floats.hpp"
#include "core/compare/measure.hpp"
#include "core/compare/ulp.hpp"
#include "core/model/decode.hpp"
#include "tests/support/complex_kernels.hpp"
#include "tests/support/exact_kernels.hpp"
#include "tests/support/short_kernels.hpp"
#include "tests/unit/skip.hpp"

namespace ttcheck::compare {

extern const Kernels kEmulatedAvx512Kernels;

namespace {

/// Whether SIMDe's instructions are there; a case that asks is skipped where they are not.
bool can_run() {
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
      __builtin_cpu_supports("f16c") != 0) {
    return true;
  }
  tests::skip_case("this processor lacks AVX2, FMA or F16C");
  return false;
}

/// Codes of every kind: any bits at all, ordinary numbers, and those at the edges.
std::uint32_t draw(Load load, int kind, std::mt19937& random) {
  if (kind == 0) return static_cast<std::uint32_t>(random());
  const DType dtype =
      std::array{DType::f32, DType::bf16, DType::f16}[static_cast<std::size_t>(load)];
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::array kEdges = {0.0,  -0.0,    1.0,    -1.0,   kInfinity, -kInfinity,
                                 kNan, 1e-45,   6e-8,   6.2e-5, 1e-20,     65504.0,
                                 3e38, 1.5e-38, -1e-41, 0x1p64};
  std::normal_distribution<double> normal;
  const double value =
      kind == 2 && random() % 4 == 0 ? kEdges[random() % kEdges.size()] : normal(random);
  return static_cast<std::uint32_t>(code_of(dtype, value));
}

/// `count` elements one byte off any alignment.
struct Stored {
  std::vector<std::byte> bytes;
  const std::byte* data() const { return bytes.data() + 1; }
};

Stored stored(Load load, int kind, int count, std::mt19937& random) {
  const std::size_t width = load == Load::f32 ? 4 : 2;
  Stored out{std::vector<std::byte>(static_cast<std::size_t>(count) * width + 1)};
  for (int i = 0; i < count; ++i) {
    const std::uint32_t code = draw(load, kind, random);
    std::memcpy(out.bytes.data() + 1 + static_cast<std::size_t>(i) * width, &code, width);
  }
  return out;
}

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

bool same(const BlockResult& a, const BlockResult& b) {
  return same(a.d2, b.d2) && same(a.a2, b.a2) && same(a.b2, b.b2) && same(a.max_d2, b.max_d2) &&
         same(static_cast<double>(a.max_abs), static_cast<double>(b.max_abs)) &&
         same(static_cast<double>(a.max_rel), static_cast<double>(b.max_rel)) &&
         a.rel_at == b.rel_at && a.unequal_bits == b.unequal_bits &&
         a.unequal_values == b.unequal_values && a.beyond == b.beyond;
}

bool same(const Classes& a, const Classes& b) {
  return a.nan_a == b.nan_a && a.plus_inf_a == b.plus_inf_a && a.minus_inf_a == b.minus_inf_a &&
         a.nan_b == b.nan_b && a.plus_inf_b == b.plus_inf_b && a.minus_inf_b == b.minus_inf_b &&
         a.taken_out == b.taken_out && a.disagree == b.disagree &&
         a.first_disagree == b.first_disagree && a.unequal_bits == b.unequal_bits;
}

const Kernels& wide = kEmulatedAvx512Kernels;
const Kernels& scalar = kScalarKernels;

TEST_CASE("emulated AVX-512: sums, counts and maxima of blocks have the scalar bits") {
  if (!can_run()) return;
  std::mt19937 random(1);
  for (const int kind : {0, 1, 2}) {
    for (const int count : {16, 32, 512, 528, 1040, 2048}) {
      for (int a = 0; a < kLoads; ++a) {
        const Stored x = stored(static_cast<Load>(a), kind, count, random);
        for (int b = 0; b < kLoads; ++b) {
          Stored y = stored(static_cast<Load>(b), kind, count, random);
          if (a == b && random() % 2 == 0) {
            y = x;
            y.bytes[1] ^= std::byte{1};
          }
          const Block block{x.data(), y.data(), count};
          BlockResult by_wide;
          BlockResult by_scalar;
          by_wide.max_rel = by_scalar.max_rel = kind == 1 ? 0.25F : 0.0F;
          wide.pair[a][b](block, 1e-3F, 1e-5F, by_wide);
          scalar.pair[a][b](block, 1e-3F, 1e-5F, by_scalar);
          CAPTURE(kind);
          CAPTURE(count);
          CAPTURE(a);
          CAPTURE(b);
          CHECK(same(by_wide, by_scalar));
        }
        BlockResult square_wide;
        BlockResult square_scalar;
        wide.square[a]({x.data(), nullptr, count}, square_wide);
        scalar.square[a]({x.data(), nullptr, count}, square_scalar);
        CHECK(same(square_wide, square_scalar));
        CHECK(wide.peak[a](x.data(), count) == scalar.peak[a](x.data(), count));
        std::vector<float> out_wide(static_cast<std::size_t>(count));
        std::vector<float> out_scalar = out_wide;
        wide.widen[a](x.data(), count, out_wide.data());
        scalar.widen[a](x.data(), count, out_scalar.data());
        CHECK(std::memcmp(out_wide.data(), out_scalar.data(), out_wide.size() * 4) == 0);
      }
    }
  }
}

TEST_CASE("emulated AVX-512: scaled sums, and what is not finite") {
  if (!can_run()) return;
  std::mt19937 random(2);
  for (const int kind : {0, 1, 2}) {
    for (const int count : {16, 48, 2048}) {
      const Stored x = stored(Load::f32, kind, count, random);
      Stored y = stored(Load::f32, kind, count, random);
      for (std::size_t i = 1; i + 4 <= y.bytes.size(); i += 12) {
        std::memcpy(y.bytes.data() + i, x.bytes.data() + i, 4);
      }
      const Block block{x.data(), y.data(), count};
      BlockResult by_wide;
      BlockResult by_scalar;
      wide.scaled[0](block, 0x1p40F, 1e-6F, 1e-5F, by_wide);
      scalar.scaled[0](block, 0x1p40F, 1e-6F, 1e-5F, by_scalar);
      CHECK(same(by_wide, by_scalar));
      for (int load = 1; load < kLoads; ++load) {
        wide.scaled[load](block, 0x1p10F, 1e-3F, 1e-5F, by_wide);
        scalar.scaled[load](block, 0x1p10F, 1e-3F, 1e-5F, by_scalar);
        CHECK(same(by_wide, by_scalar));
      }
      const auto size = static_cast<std::size_t>(count);
      std::vector<float> a_wide(size), b_wide(size), a_scalar(size), b_scalar(size);
      CHECK(same(wide.take_out(block, a_wide.data(), b_wide.data()),
                 scalar.take_out(block, a_scalar.data(), b_scalar.data())));
      CHECK(std::memcmp(a_wide.data(), a_scalar.data(), size * 4) == 0);
      CHECK(std::memcmp(b_wide.data(), b_scalar.data(), size * 4) == 0);
    }
  }
}

TEST_CASE("emulated AVX-512: integers and doubles") {
  if (!can_run()) return;
  tests::check_exact(wide);
  tests::check_short(wide);
  tests::check_complex(wide);
}

TEST_CASE("emulated AVX-512: small floats, and rounding to 16 bits") {
  if (!can_run()) return;
  std::vector<std::uint8_t> codes(256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  for (const DType dtype : {DType::f8_e4m3fn, DType::f8_e5m2, DType::f8_e4m3fnuz, DType::f6_e2m3,
                            DType::f6_e3m2, DType::f4_e2m1}) {
    std::vector<float> by_wide(256), by_scalar(256);
    wide.widen_small(codes.data(), 256, *small_format(dtype), by_wide.data());
    scalar.widen_small(codes.data(), 256, *small_format(dtype), by_scalar.data());
    CAPTURE(name(dtype));
    CHECK(std::memcmp(by_wide.data(), by_scalar.data(), 1024) == 0);
  }
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const Stored from = stored(Load::f32, 1, 64, random);
    std::vector<std::uint16_t> to(64);
    for (const DType narrow : {DType::bf16, DType::f16}) {
      for (std::size_t i = 0; i < 64; ++i) {
        float value;
        std::memcpy(&value, from.data() + 4 * i, 4);
        to[i] = static_cast<std::uint16_t>(code_of(narrow, static_cast<double>(value)));
      }
      if (round % 2 == 0) to[random() % 64] ^= 1;
      const Block block{from.data(), to.data(), 64};
      const auto kernel =
          narrow == DType::bf16 ? &Kernels::rounds_to_bf16 : &Kernels::rounds_to_f16;
      CHECK((wide.*kernel)(block) == (round % 2 != 0));
      CHECK((scalar.*kernel)(block) == (round % 2 != 0));
    }
  }
}

TEST_CASE("emulated AVX-512: whole ranges of odd length, hard data, every dtype") {
  if (!can_run()) return;
  std::mt19937 random(4);
  for (const DTypeInfo& row : kDTypes) {
    if (is_complex(row.dtype)) continue;
    for (const std::int64_t count : {1, 15, 17, 2047, 2049, 5001}) {
      std::vector<std::byte> a(byte_size(row.dtype, count));
      for (std::byte& byte : a) byte = static_cast<std::byte>(random());
      std::vector<std::byte> b = a;
      for (std::byte& byte : b) {
        if (random() % 3 == 0) byte ^= std::byte{1};
      }
      const auto measured = [&](const Kernels& isa) {
        Rule rule = rule_for(row.dtype, row.dtype, false);
        rule.isa = &isa;
        auto copy_a = a;
        auto copy_b = b;
        const auto scratch = make_scratch();
        return measure(rule, 0, count, copy_a, copy_b, {}, *scratch);
      };
      CAPTURE(row.name);
      CAPTURE(count);
      CHECK(measured(wide) == measured(scalar));
    }
  }
}

TEST_CASE("emulated AVX-512: the loops of the second pass") {
  if (!can_run()) return;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const int count : {1, 7, 8, 100, 2047}) {
    const auto size = static_cast<std::size_t>(count);
    std::vector<float> a(size), b(size);
    for (float& value : a) value = normal(random);
    for (std::size_t i = 0; i < size; ++i) b[i] = a[i] + 1e-3F * normal(random);
    std::vector<double> x(size), y(size), d(size), e(size), sums(size), others(size);
    wide.split(a.data(), b.data(), count, x.data(), d.data());
    scalar.split(a.data(), b.data(), count, y.data(), e.data());
    CHECK(x == y);
    CHECK(d == e);
    for (const std::size_t as : {0U, 1U}) {
      const Squares by_wide = wide.squares[as](x.data(), d.data(), count);
      const Squares by_scalar = scalar.squares[as](x.data(), d.data(), count);
      CHECK(same(by_wide.d2, by_scalar.d2));
      CHECK(same(by_wide.a2, by_scalar.a2));
      wide.add_squares[as](d.data(), count, sums.data());
      scalar.add_squares[as](d.data(), count, others.data());
      CHECK(sums == others);
    }
    for (const double ratio : {1e-5, 1e-3, 1.0}) {
      CHECK(wide.exceeds(x.data(), d.data(), count, ratio, 0.5) ==
            scalar.exceeds(x.data(), d.data(), count, ratio, 0.5));
    }
    std::vector<std::uint32_t> steps(size), expected(size);
    const auto format = unit_format(DType::bf16, DType::f32, DType::bf16);
    wide.ulps(a.data(), b.data(), count, *format, steps.data());
    scalar.ulps(a.data(), b.data(), count, *format, expected.data());
    CHECK(steps == expected);
  }
}

}  // namespace
}  // namespace ttcheck::compare
