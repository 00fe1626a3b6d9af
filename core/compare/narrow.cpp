// SPDX-License-Identifier: Apache-2.0
#include "core/compare/narrow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/require.hpp"
#include "core/compare/floats.hpp"

namespace ttcheck::compare {
namespace {

/// Below this, squares may have lost bits to underflow: 2048 x 2^-150 is 2^-29 of it.
constexpr double kTrusted = 0x1p-110;

constexpr std::uint32_t kInfinityBits = 0x7f800000;

/// Peaks above or below which the first attempt surely fails: one square overflows, or 2048 squares
/// stay below kTrusted.
constexpr std::uint32_t kTooLarge = std::bit_cast<std::uint32_t>(0x1p64F);
constexpr std::uint32_t kTooSmall = std::bit_cast<std::uint32_t>(0x1p-61F);

/// Peaks below this are worth scaling.
constexpr std::uint32_t kWorthScaling = std::bit_cast<std::uint32_t>(0x1p-30F);

bool trusted(double sum) { return sum >= kTrusted && sum <= std::numeric_limits<double>::max(); }

bool surely_fails(std::uint32_t peak) {
  return peak >= kTooLarge || (peak < kTooSmall && peak != 0);
}

/// True when no square of a value, nor of a difference of two, gets below kTrusted unless it is
/// zero: all floats of at most 16 bits but bf16 and e8m0, and all integers.
bool is_coarse(DType dtype) {
  return dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f8_e8m0;
}

float float_at(const void* from, int at) {
  float value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + static_cast<std::size_t>(at) * 4, 4);
  return value;
}

}  // namespace

/// What a kernel reads of one side: the stored elements themselves, or floats in scratch.
struct Narrow::Read {
  const void* from;
  Load load;
};

struct Narrow::Input {
  const std::byte* a;
  const std::byte* b;
  std::int64_t base;
  int count;
  bool equal;  ///< the bits of all elements are
  Read read_a, read_b;
  std::optional<double> a2{};  ///< once it was summed
};

Narrow::Read Narrow::readable(DType dtype, const std::byte* from, int count, float* out) const {
  const auto load = native_load(dtype);
  if (load && padded(count) == count) return {from, *load};
  widen(*rule_.isa, dtype, from, count, out);
  return {out, Load::f32};
}

void Narrow::block(const std::byte* a, const std::byte* b, std::int64_t base, int count) {
  require(!rule_.wide, "a rule that fp32 will do for");
  Input in{a, b, base, count, false, readable(rule_.a, a, count, scratch_.a), {}};
  cleared_ = false;
  in.equal = rule_.a == rule_.b && width_of(rule_.a) <= 2 && is_equal(in);
  if (in.equal && add_equal(in)) return;
  in.read_b = in.equal ? in.read_a : readable(rule_.b, b, count, scratch_.b);
  std::optional<BlockResult> tried;
  if (!wary_) {
    tried = run_pair(in);
    if (good(*tried, false, false)) return accept(in, *tried, 1);
  }
  second_attempt(in, tried);
}

int Narrow::unequal_codes(const Input& in) const {
  if (in.equal) return 0;
  return rule_.isa->unequal_codes[std::countr_zero(width_of(rule_.a))](in.a, in.b, in.count);
}

/// Whether unequal bits are counted by the stored codes, because floats would not tell them apart:
/// NaN payloads once they are quiet or cleared.
bool Narrow::counts_codes() const {
  if (rule_.a != rule_.b || rule_.a == DType::f32 || rule_.a == DType::bf16) return false;
  return cleared_;
}

/// Both sides as floats, in scratch unless they were stored so.
void Narrow::widen_sides(Input& in) const {
  const auto as_floats = [&](DType dtype, const std::byte* stored, Read& read, float* out) {
    if (read.load == Load::f32) return;
    widen(*rule_.isa, dtype, stored, in.count, out);
    read = {out, Load::f32};
  };
  as_floats(rule_.a, in.a, in.read_a, scratch_.a);
  if (in.equal) {
    in.read_b = in.read_a;
  } else {
    as_floats(rule_.b, in.b, in.read_b, scratch_.b);
  }
}

/// Whether the bits of a block are the same on both sides; sums it on the way where its elements
/// are read as they were stored.
bool Narrow::is_equal(Input& in) const {
  const std::size_t width = width_of(rule_.a);
  const auto first = static_cast<std::size_t>(std::min(in.count, kLanes)) * width;
  if (std::memcmp(in.a, in.b, first) != 0) return false;  // as of most that differ
  if (wary_ || in.read_a.from != in.a) {
    return std::memcmp(in.a, in.b, static_cast<std::size_t>(in.count) * width) == 0;
  }
  BlockResult result;
  const auto square = rule_.isa->square[static_cast<int>(in.read_a.load)];
  if (!square({in.a, in.b, in.count}, result)) return false;
  in.a2 = result.a2;
  return true;
}

/// A block that is the same on both sides, unless it needs care.
bool Narrow::add_equal(const Input& in) {
  if (!wary_ && add_square(in)) return true;
  const std::uint32_t peak =
      rule_.isa->peak[static_cast<int>(in.read_a.load)](in.read_a.from, padded(in.count));
  const bool worth_it = wary_ && peak < kInfinityBits && !surely_fails(peak);
  wary_ = peak == 0 || !worth_it || !add_square(in);
  return peak == 0 || !wary_;
}

bool Narrow::add_square(const Input& in) {
  BlockResult result;
  if (in.a2) {
    result.a2 = *in.a2;
  } else {
    rule_.isa->square[static_cast<int>(in.read_a.load)]({in.read_a.from, nullptr, padded(in.count)},
                                                        result);
  }
  if (!trusted(result.a2) && !(result.a2 == 0 && is_coarse(rule_.a))) return false;
  metrics_.sum_a2 += result.a2;
  metrics_.sum_b2 += result.a2;
  return true;
}

BlockResult Narrow::empty_result() const {
  BlockResult result;
  result.max_rel = rel_;
  return result;
}

BlockResult Narrow::run_pair(const Input& in) const {
  BlockResult result = empty_result();
  rule_.isa->pair[static_cast<int>(in.read_a.load)][static_cast<int>(in.read_b.load)](
      {in.read_a.from, in.read_b.from, padded(in.count)}, static_cast<float>(rule_.close_rtol),
      static_cast<float>(rule_.close_atol), result);
  return result;
}

/// Whether sums may be believed; `zero_a` and `zero_b` say that a side is known to be.
bool Narrow::good(const BlockResult& result, bool zero_a, bool zero_b) const {
  zero_a = zero_a || is_coarse(rule_.a);
  zero_b = zero_b || is_coarse(rule_.b);
  return (trusted(result.a2) || (zero_a && result.a2 == 0)) &&
         (trusted(result.b2) || (zero_b && result.b2 == 0)) &&
         (trusted(result.d2) || result.unequal_values == 0);
}

void Narrow::second_attempt(Input& in, const std::optional<BlockResult>& tried) {
  const int all = padded(in.count);
  const auto peak_of = [&](const Read& read) {
    return rule_.isa->peak[static_cast<int>(read.load)](read.from, all);
  };
  std::uint32_t peak_a = peak_of(in.read_a);
  std::uint32_t peak_b = in.equal ? peak_a : peak_of(in.read_b);
  wary_ = true;
  if (std::max(peak_a, peak_b) >= kInfinityBits) {
    widen_sides(in);
    float* clear_b = in.equal ? scratch_.a : scratch_.b;
    const Classes classes =
        rule_.isa->take_out({in.read_a.from, in.read_b.from, all}, scratch_.a, clear_b);
    cleared_ = true;
    in.read_a.from = scratch_.a;
    in.read_b.from = clear_b;
    count_classes(in, classes);
    if (classes.taken_out == in.count) return accept(in, empty_result(), 1);
    peak_a = peak_of(in.read_a);
    peak_b = in.equal ? peak_a : peak_of(in.read_b);
  }
  if (!surely_fails(peak_a) && !surely_fails(peak_b)) {
    const BlockResult result = tried && !cleared_ ? *tried : run_pair(in);
    if (good(result, peak_a == 0, peak_b == 0)) {
      wary_ = cleared_;
      return accept(in, result, 1);
    }
  }
  measure_scaled(in, peak_a, peak_b);
}

void Narrow::measure_scaled(Input& in, std::uint32_t peak_a, std::uint32_t peak_b) {
  if (in.read_a.load != in.read_b.load) widen_sides(in);
  const std::uint32_t peak = std::max(peak_a, peak_b);
  if (peak < kWorthScaling) {
    const int exponent = std::min(-std::ilogb(std::bit_cast<float>(peak)), 126);
    const float scale = std::ldexp(1.0F, exponent);
    BlockResult result = empty_result();
    const double atol = std::ldexp(rule_.close_atol, exponent);
    rule_.isa->scaled[static_cast<int>(in.read_a.load)](
        {in.read_a.from, in.read_b.from, padded(in.count)}, scale,
        static_cast<float>(rule_.close_rtol), static_cast<float>(atol), result);
    if (good(result, peak_a == 0, peak_b == 0)) {
      return accept(in, result, static_cast<double>(scale));
    }
  }
  sum_wide(in);
}

void Narrow::accept(Input& in, const BlockResult& result, double scale) {
  metrics_.sum_d2 += result.d2 / scale / scale;
  metrics_.sum_a2 += result.a2 / scale / scale;
  metrics_.sum_b2 += result.b2 / scale / scale;
  metrics_.max_block_d2 = std::max(metrics_.max_block_d2, result.max_d2 / scale / scale);
  metrics_.unequal_bits += counts_codes() ? unequal_codes(in) : result.unequal_bits;
  metrics_.unequal_values += result.unequal_values;
  metrics_.beyond_close += result.beyond;
  const double max_abs = static_cast<double>(result.max_abs) / scale;
  if (max_abs > metrics_.max_abs) {
    widen_sides(in);
    const auto by = static_cast<float>(scale);
    int at = 0;
    while (at + 1 < in.count && std::fabs(float_at(in.read_b.from, at) * by -
                                          float_at(in.read_a.from, at) * by) != result.max_abs) {
      ++at;
    }
    metrics_.max_abs = max_abs;
    metrics_.max_abs_index = in.base + at;
  }
  rel_ = result.max_rel;
  if (result.rel_at >= 0 && static_cast<double>(result.max_rel) > metrics_.max_rel) {
    metrics_.max_rel = static_cast<double>(result.max_rel);
    metrics_.max_rel_index = in.base + result.rel_at;
  }
}

void Narrow::count_classes(const Input& in, const Classes& classes) {
  metrics_.reference.nan += classes.nan_a;
  metrics_.reference.plus_inf += classes.plus_inf_a;
  metrics_.reference.minus_inf += classes.minus_inf_a;
  metrics_.candidate.nan += classes.nan_b;
  metrics_.candidate.plus_inf += classes.plus_inf_b;
  metrics_.candidate.minus_inf += classes.minus_inf_b;
  metrics_.non_finite_disagree += classes.disagree;
  metrics_.taken_out += classes.taken_out;
  metrics_.unequal_values += classes.disagree;
  metrics_.beyond_close += classes.disagree;
  if (metrics_.non_finite_index < 0 && classes.first_disagree >= 0) {
    metrics_.non_finite_index = in.base + classes.first_disagree;
  }
  if (!counts_codes())
    metrics_.unequal_bits += rule_.a == rule_.b ? classes.unequal_bits : classes.disagree;
}

/// The floats, finite by now, summed in fp64.
void Narrow::sum_wide(Input& in) {
  widen_sides(in);
  WideBlock& wide = scratch_.wide;
  int unequal_bits = 0;
  for (int i = 0; i < in.count; ++i) {
    const float a = float_at(in.read_a.from, i);
    const float b = float_at(in.read_b.from, i);
    wide.a[i] = static_cast<double>(a);
    wide.b[i] = static_cast<double>(b);
    wide.d[i] = std::fabs(wide.b[i] - wide.a[i]);
    metrics_.unequal_values += a != b;
    unequal_bits += std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b);
  }
  metrics_.unequal_bits += counts_codes() ? unequal_codes(in) : unequal_bits;
  sum_block(rule_, wide, in.count, in.base, metrics_);
}

}  // namespace ttcheck::compare
