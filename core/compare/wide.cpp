// SPDX-License-Identifier: Apache-2.0
#include "core/compare/wide.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/require.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

bool packed(DType dtype) { return bits(dtype) < 8; }

void decode(DType dtype, const std::byte* in, int count, double* out) {
  if (!packed(dtype)) return to_doubles(dtype, in, count, out);
  const std::array<float, 256>& table = float_table(dtype);
  for (int i = 0; i < count; ++i) out[i] = table[std::to_integer<std::uint8_t>(in[i])];
}

std::int64_t unequal_codes(const std::byte* a, const std::byte* b, int count, std::size_t width) {
  std::int64_t unequal = 0;
  for (int i = 0; i < count; ++i, a += width, b += width) unequal += std::memcmp(a, b, width) != 0;
  return unequal;
}

__extension__ using Integer = __int128;

/// The exact value of a 64-bit integer code.
Integer integer_at(DType dtype, const std::byte* at) {
  std::uint64_t code;
  std::memcpy(&code, at, sizeof code);
  if (dtype == DType::u64) return static_cast<Integer>(code);
  return static_cast<Integer>(static_cast<std::int64_t>(code));
}

bool is_wide_integer(DType dtype) { return dtype == DType::u64 || dtype == DType::i64; }

/// The integer nearest to a double that is one, else nothing that any 64-bit integer equals.
Integer integer_of(double value) {
  constexpr Integer kNone = static_cast<Integer>(1) << 100;
  if (!(std::fabs(value) <= 0x1p64) || value != std::trunc(value)) return kNone;
  return static_cast<Integer>(value);
}

/// Exact comparison where at least one side has 64-bit integers: unequal places, and d where both
/// sides are integers.
std::int64_t compare_integers(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                              WideBlock& block) {
  std::int64_t unequal = 0;
  for (int i = 0; i < count; ++i) {
    const Integer x =
        is_wide_integer(rule.a) ? integer_at(rule.a, a + 8 * i) : integer_of(block.a[i]);
    const Integer y =
        is_wide_integer(rule.b) ? integer_at(rule.b, b + 8 * i) : integer_of(block.b[i]);
    unequal += x != y;
    if (is_exact(rule.a) && is_exact(rule.b)) block.d[i] = static_cast<double>(y - x);
  }
  return unequal;
}

enum class Class : std::uint8_t { finite, nan, plus_inf, minus_inf };

Class class_of(double value) {
  if (std::isnan(value)) return Class::nan;
  if (!std::isinf(value)) return Class::finite;
  return value > 0 ? Class::plus_inf : Class::minus_inf;
}

void count_class(Class kind, NonFinite& counts) {
  counts.nan += kind == Class::nan;
  counts.plus_inf += kind == Class::plus_inf;
  counts.minus_inf += kind == Class::minus_inf;
}

/// A place that holds NaN or infinity on some side: counted, then taken out of the sums.
void take_out(const Rule& rule, int i, std::int64_t base, WideBlock& block, Metrics& metrics) {
  const int parts = is_complex(rule.a) ? 2 : 1;
  Class worst_a = Class::finite;
  Class worst_b = Class::finite;
  bool disagree = false;
  for (int p = 0; p < parts; ++p) {
    const Class a = class_of(parts == 2 ? block.parts[p][i] : block.a[i]);
    const Class b = class_of(parts == 2 ? block.parts[2 + p][i] : block.b[i]);
    disagree = disagree || a != b;
    if (worst_a == Class::finite || a == Class::nan) worst_a = a;
    if (worst_b == Class::finite || b == Class::nan) worst_b = b;
  }
  count_class(worst_a, metrics.reference);
  count_class(worst_b, metrics.candidate);
  if (disagree) {
    if (metrics.non_finite_index < 0) metrics.non_finite_index = base + i;
    ++metrics.non_finite_disagree;
    ++metrics.beyond_close;
  }
  block.a[i] = block.b[i] = block.d[i] = 0;
  ++metrics.taken_out;
}

/// Both sides complex: parts, then moduli. REQUIRES both dtypes complex.
void decode_complex(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                    WideBlock& block) {
  const auto split = [&](DType dtype, const std::byte* in, double* real, double* imaginary) {
    std::array<double, 2 * kBlock> both;
    to_doubles(dtype, in, count, both.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      real[i] = both[2 * i];
      imaginary[i] = both[2 * i + 1];
    }
  };
  split(rule.a, a, block.parts[0], block.parts[1]);
  split(rule.b, b, block.parts[2], block.parts[3]);
  for (int i = 0; i < count; ++i) {
    block.a[i] = std::hypot(block.parts[0][i], block.parts[1][i]);
    block.b[i] = std::hypot(block.parts[2][i], block.parts[3][i]);
    block.d[i] =
        std::hypot(block.parts[2][i] - block.parts[0][i], block.parts[3][i] - block.parts[1][i]);
  }
}

/// Whether numbers of different dtypes, whose NaNs have no bits in common, are the same.
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Counts unequal bits and values of decoded numbers; `parts` of them make an element.
void count_unequal(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                   const WideBlock& block, Metrics& metrics) {
  const bool complex = is_complex(rule.a);
  std::int64_t unequal_bits = 0;
  std::int64_t unequal_values = 0;
  for (int i = 0; i < count; ++i) {
    if (complex) {
      unequal_bits += !same_bits(block.parts[0][i], block.parts[2][i]) ||
                      !same_bits(block.parts[1][i], block.parts[3][i]);
      unequal_values += !same_value(block.parts[0][i], block.parts[2][i]) ||
                        !same_value(block.parts[1][i], block.parts[3][i]);
    } else {
      unequal_bits += !same_bits(block.a[i], block.b[i]);
      unequal_values += !same_value(block.a[i], block.b[i]);
    }
  }
  if (rule.a == rule.b) {  // widening would hide NaN payloads and non-canonical codes
    const auto width = static_cast<std::size_t>(std::max(bits(rule.a) / 8, 1));
    unequal_bits = unequal_codes(a, b, count, width);
  }
  metrics.unequal_bits += unequal_bits;
  metrics.unequal_values += unequal_values;
}

}  // namespace

const std::byte* stored_at(DType dtype, std::span<const std::byte> bytes, std::int64_t at,
                           int count, std::uint8_t* codes) {
  require(!packed(dtype) || at % 8 == 0, "packed elements by eights");
  const std::byte* from = bytes.data() + at * bits(dtype) / 8;
  if (!packed(dtype)) return from;
  unpack(dtype, from, count, codes);
  return reinterpret_cast<const std::byte*>(codes);
}

void decode_block(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                  std::int64_t base, WideBlock& block, Metrics& metrics) {
  if (is_complex(rule.a)) {
    decode_complex(rule, a, b, count, block);
  } else {
    decode(rule.a, a, count, block.a);
    decode(rule.b, b, count, block.b);
    for (int i = 0; i < count; ++i) block.d[i] = block.b[i] - block.a[i];
  }
  if (is_wide_integer(rule.a) || is_wide_integer(rule.b)) {
    const std::int64_t unequal = compare_integers(rule, a, b, count, block);
    metrics.unequal_bits += unequal;
    metrics.unequal_values += unequal;
  } else {
    count_unequal(rule, a, b, count, block, metrics);
  }
  for (int i = 0; i < count; ++i) {
    if (!(std::isfinite(block.a[i]) && std::isfinite(block.b[i])))
      take_out(rule, i, base, block, metrics);
    block.d[i] = std::fabs(block.d[i]);
  }
}

void sum_block(const Rule& rule, const WideBlock& block, int count, std::int64_t base,
               Metrics& metrics) {
  const auto fold = [](double(&lane)[kLanes]) {
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) lane[j] += lane[j + half];
    }
    return lane[0];
  };
  for (int part = 0; part < count; part += kFlush) {
    const int end = std::min(part + kFlush, count);
    double d2[kLanes] = {};
    double a2[kLanes] = {};
    double b2[kLanes] = {};
    for (int i = part; i < end; i += kLanes) {
      for (int j = 0; j < std::min(kLanes, end - i); ++j) {
        d2[j] += block.d[i + j] * block.d[i + j];
        a2[j] += block.a[i + j] * block.a[i + j];
        b2[j] += block.b[i + j] * block.b[i + j];
      }
    }
    const double part_d2 = fold(d2);
    metrics.max_block_d2 = std::max(metrics.max_block_d2, part_d2);
    metrics.sum_d2 += part_d2;
    metrics.sum_a2 += fold(a2);
    metrics.sum_b2 += fold(b2);
  }
  for (int i = 0; i < count; ++i) {
    const double d = block.d[i];
    if (d == 0) continue;
    if (d > metrics.max_abs) {
      metrics.max_abs = d;
      metrics.max_abs_index = base + i;
    }
    const double larger = std::max(std::fabs(block.a[i]), std::fabs(block.b[i]));
    if (d > metrics.max_rel * larger && d / larger > metrics.max_rel) {
      metrics.max_rel = d / larger;
      metrics.max_rel_index = base + i;
    }
    metrics.beyond_close += d > rule.close_atol + rule.close_rtol * std::fabs(block.a[i]);
  }
}

void quotient_block(const Rule& rule, const WideBlock& block, int count, std::int64_t base,
                    Metrics& metrics) {
  require(rule.rtol || rule.atol, "a tolerance");
  const double rtol = rule.rtol.value_or(0);
  const double atol = rule.atol.value_or(0);
  for (int i = 0; i < count; ++i) {
    const double d = block.d[i];
    if (d == 0) continue;
    const double allowed = atol + rtol * std::fabs(block.a[i]);
    const double quotient = allowed > 0 ? d / allowed : std::numeric_limits<double>::infinity();
    if (quotient > metrics.max_quotient) {
      metrics.max_quotient = quotient;
      metrics.max_quotient_index = base + i;
    }
  }
}

}  // namespace ttcheck::compare
