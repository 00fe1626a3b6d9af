// SPDX-License-Identifier: Apache-2.0
#include "core/compare/wide.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/require.hpp"
#include "core/compare/floats.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

bool packed(DType dtype) { return bits(dtype) < 8; }

void decode(const Kernels& isa, DType dtype, const std::byte* in, int count, double* out) {
  if (const auto whole = whole_of(dtype)) {
    isa.to_doubles[static_cast<int>(*whole)](in, count, out);
  } else if (dtype == DType::boolean) {
    isa.to_doubles[static_cast<int>(Whole::u8)](in, count, out);
    for (int i = 0; i < count; ++i) out[i] = out[i] < 1 ? out[i] : 1;  // any other code is true
  } else if (packed(dtype)) {
    const std::array<float, 256>& table = float_table(dtype);
    for (int i = 0; i < count; ++i) out[i] = table[std::to_integer<std::uint8_t>(in[i])];
  } else {
    to_doubles(dtype, in, count, out);
  }
}

std::int64_t unequal_codes(const Rule& rule, const std::byte* a, const std::byte* b, int count) {
  const std::size_t width = width_of(rule.a);
  if (width <= 8) return rule.isa->unequal_codes[std::countr_zero(width)](a, b, count);
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

/// Exact comparison of 64-bit integers and numbers of another dtype: unequal places, and d where
/// both sides are integers.
std::int64_t compare_integers(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                              WideBlock& block) {
  std::int64_t unequal = 0;
  for (int i = 0; i < count; ++i) {
    const Integer x =
        is_wide_integer(rule.a) ? integer_at(rule.a, a + 8 * i) : integer_of(block.a[i]);
    const Integer y =
        is_wide_integer(rule.b) ? integer_at(rule.b, b + 8 * i) : integer_of(block.b[i]);
    unequal += x != y;
    if (is_exact(rule.a) && is_exact(rule.b))
      block.d[i] = static_cast<double>(y > x ? y - x : x - y);
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

/// Squares of parts of at most 32 bits are within the range of a double.
void set_moduli(const Kernels& isa, DType dtype, const double* real, const double* imaginary,
                int count, double* out) {
  if (bits(dtype) <= 64) return isa.moduli(real, imaginary, count, out);
  for (int i = 0; i < count; ++i) out[i] = std::hypot(real[i], imaginary[i]);
}

void decode_parts(const Kernels& isa, DType dtype, const std::byte* in, int count, double* real,
                  double* imaginary) {
  if (dtype == DType::c64) {
    isa.part(in, count, real, imaginary);
  } else {
    std::array<double, 2 * kBlock> both;
    to_doubles(dtype, in, count, both.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      real[i] = both[2 * i];
      imaginary[i] = both[2 * i + 1];
    }
  }
}

/// Parts, moduli and their distance of both sides; b's moduli only if asked for, or if something is
/// not finite, which is returned. REQUIRES both dtypes complex.
bool decode_complex(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                    bool moduli_of_b, WideBlock& block) {
  auto& [real_a, imaginary_a, real_b, imaginary_b] = block.parts;
  const Kernels& isa = *rule.isa;
  decode_parts(isa, rule.a, a, count, real_a, imaginary_a);
  decode_parts(isa, rule.b, b, count, real_b, imaginary_b);
  set_moduli(isa, rule.a, real_a, imaginary_a, count, block.a);
  alignas(64) std::array<double, kBlock> real, imaginary;
  isa.distances(real_a, real_b, count, real.data());
  isa.distances(imaginary_a, imaginary_b, count, imaginary.data());
  const DType wider = bits(rule.a) > bits(rule.b) ? rule.a : rule.b;
  set_moduli(isa, wider, real.data(), imaginary.data(), count, block.d);
  if (!moduli_of_b && bits(wider) <= 64 && isa.finite(block.d, count)) return true;
  set_moduli(isa, rule.b, real_b, imaginary_b, count, block.b);
  return isa.finite(block.a, count) && isa.finite(block.b, count);
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
  // Widening would hide NaN payloads and non-canonical codes.
  metrics.unequal_bits += rule.a == rule.b ? unequal_codes(rule, a, b, count) : unequal_bits;
  metrics.unequal_values += unequal_values;
}

bool is_finite(const Rule& rule, DType dtype, const double* values, int count) {
  return is_exact(dtype) || rule.isa->finite(values, count);
}

/// Zeros behind `count` values, up to whole vectors.
void pad(double* values, int count) { std::fill(values + count, values + padded(count), 0.0); }

/// What is summed of a block whose sides have the same bits: values, or squares of moduli. False
/// where it holds what is not finite.
bool decode_equal(const Rule& rule, const std::byte* stored, int count, WideBlock& block) {
  if (rule.a == DType::c64) {
    rule.isa->square_moduli(stored, count, block.a);
  } else if (is_complex(rule.a)) {
    decode_parts(*rule.isa, rule.a, stored, count, block.parts[0], block.parts[1]);
    set_moduli(*rule.isa, rule.a, block.parts[0], block.parts[1], count, block.a);
  } else {
    decode(*rule.isa, rule.a, stored, count, block.a);
  }
  return is_finite(rule, rule.a, block.a, count);
}

/// max_abs and max_rel by elements [begin, end).
void raise_maxima(const WideBlock& block, int begin, int end, std::int64_t base, Metrics& metrics) {
  for (int i = begin; i < end; ++i) {
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
  }
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

void count_unequal_finite(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                          const WideBlock& block, Metrics& metrics) {
  static constexpr std::array<double, kBlock> kZeros{};
  const auto unequal = rule.isa->unequal_codes[3];
  const int values = unequal(block.d, kZeros.data(), count);
  metrics.unequal_values += values;
  if (rule.a == rule.b && whole_of(rule.a)) {
    metrics.unequal_bits += values;
  } else if (rule.a == rule.b) {
    metrics.unequal_bits += unequal_codes(rule, a, b, count);
  } else {
    metrics.unequal_bits += unequal(block.a, block.b, count);
  }
}

bool add_equal_block(const Rule& rule, const std::byte* stored, int count, WideBlock& block,
                     Metrics& metrics) {
  if (!decode_equal(rule, stored, count, block)) return false;
  pad(block.a, count);
  const As as = rule.a == DType::c64 ? As::squares : As::values;
  const auto square_sum = rule.isa->square_sum[static_cast<std::size_t>(as)];
  for (int part = 0; part < count; part += kFlush) {
    const double a2 = square_sum(block.a + part, padded(std::min(kFlush, count - part)));
    metrics.sum_a2 += a2;
    metrics.sum_b2 += a2;
  }
  return true;
}

void decode_block(const Rule& rule, const std::byte* a, const std::byte* b, int count,
                  std::int64_t base, WideBlock& block, Metrics& metrics, Unequal unequal) {
  const bool counted = unequal == Unequal::counted;
  bool finite = false;
  if (is_complex(rule.a)) {
    finite = decode_complex(rule, a, b, count, counted, block);
  } else {
    decode(*rule.isa, rule.a, a, count, block.a);
    decode(*rule.isa, rule.b, b, count, block.b);
    rule.isa->distances(block.a, block.b, count, block.d);
    finite = is_finite(rule, rule.a, block.a, count) && is_finite(rule, rule.b, block.b, count);
  }
  if (is_wide_integer(rule.a) && rule.a == rule.b) {
    rule.isa->integer_distances[rule.a == DType::i64 ? 1 : 0](a, b, count, block.d);
    if (counted) count_unequal_finite(rule, a, b, count, block, metrics);
  } else if (is_wide_integer(rule.a) || is_wide_integer(rule.b)) {
    const std::int64_t places = compare_integers(rule, a, b, count, block);
    metrics.unequal_bits += places;
    metrics.unequal_values += places;
  } else if (counted && finite && (rule.a == rule.b || !is_complex(rule.a))) {
    count_unequal_finite(rule, a, b, count, block, metrics);
  } else if (counted) {
    count_unequal(rule, a, b, count, block, metrics);
  }
  for (int i = 0; !finite && i < count; ++i) {
    if (!(std::isfinite(block.a[i]) && std::isfinite(block.b[i]))) {
      take_out(rule, i, base, block, metrics);
    }
  }
}

void pad(WideBlock& block, int count) {
  for (double* values : {block.a, block.b, block.d}) pad(values, count);
}

void add_sums(const Rule& rule, As as, const WideBlock& block, int part, int count,
              Metrics& metrics) {
  const auto square_sum = rule.isa->square_sum[static_cast<std::size_t>(as)];
  const int n = padded(std::min(kFlush, count - part));
  const double part_d2 = square_sum(block.d + part, n);
  metrics.max_block_d2 = std::max(metrics.max_block_d2, part_d2);
  metrics.sum_d2 += part_d2;
  metrics.sum_a2 += square_sum(block.a + part, n);
  metrics.sum_b2 += square_sum(block.b + part, n);
}

void raise(const Rule& rule, const WideBlock& block, int part, int count, std::int64_t base,
           Metrics& metrics) {
  const int n = padded(std::min(kFlush, count - part));
  Extremes found;
  rule.isa->extremes(block.a + part, block.b + part, block.d + part, n,
                     {metrics.max_rel, rule.close_rtol, rule.close_atol}, found);
  metrics.beyond_close += found.beyond;
  if (found.most > metrics.max_abs || found.rises) {
    raise_maxima(block, part, std::min(part + kFlush, count), base, metrics);
  }
}

void sum_block(const Rule& rule, WideBlock& block, int count, std::int64_t base, Metrics& metrics) {
  pad(block, count);
  for (int part = 0; part < count; part += kFlush) {
    add_sums(rule, As::values, block, part, count, metrics);
    raise(rule, block, part, count, base, metrics);
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
