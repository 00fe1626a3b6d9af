#include "core/compare/narrow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/model/decode.hpp"

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

std::optional<SmallFormat> small_format(DType dtype) {
  switch (dtype) {
    case DType::f8_e5m2:
      return SmallFormat{8, 8, 0x7f, 0, 0x100, 1};
    case DType::f8_e4m3fn:
      return SmallFormat{7, 8, 0x7f, 0x7f, 0x7f, 0x1p8F};
    case DType::f8_e4m3fnuz:
      return SmallFormat{7, 8, 0x7f, 0xff, 0x80, 0x1p7F};
    case DType::f6_e2m3:
      return SmallFormat{7, 10, 0x1f, 0, 0x100, 0x1p14F};
    case DType::f6_e3m2:
      return SmallFormat{8, 10, 0x1f, 0, 0x100, 0x1p12F};
    case DType::f4_e2m1:
      return SmallFormat{9, 12, 0x7, 0, 0x100, 0x1p14F};
    default:
      return std::nullopt;  // e5m2fnuz has finite values where f16 has none
  }
}

std::optional<Load> native(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Load::f32;
    case DType::bf16:
      return Load::bf16;
    case DType::f16:
      return Load::f16;
    default:
      return small_format(dtype) ? std::optional(Load::small) : std::nullopt;
  }
}

std::size_t width_of(DType dtype) { return static_cast<std::size_t>(std::max(bits(dtype) / 8, 1)); }

int padded(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

template <class T>
int count_unequal(const std::byte* a, const std::byte* b, int count) {
  int unequal = 0;
  for (int i = 0; i < count; ++i) {
    T x;
    T y;
    std::memcpy(&x, a + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&y, b + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    unequal += x != y;
  }
  return unequal;
}

int unequal_codes(const std::byte* a, const std::byte* b, int count, std::size_t width) {
  if (width == 1) return count_unequal<std::uint8_t>(a, b, count);
  if (width == 2) return count_unequal<std::uint16_t>(a, b, count);
  return count_unequal<std::uint32_t>(a, b, count);
}

/// What a kernel reads of one side.
struct Read {
  const void* from;
  Load load;
};

/// The stored elements themselves, or `out` with them as floats or padded.
Read readable(DType dtype, const std::byte* from, int count, float* out) {
  if (const auto load = native(dtype)) {
    if (padded(count) == count) return {from, *load};
    const std::size_t width = width_of(dtype);
    std::memset(out, 0, static_cast<std::size_t>(padded(count)) * width);
    std::memcpy(out, from, static_cast<std::size_t>(count) * width);
    return {out, *load};
  }
  if (bits(dtype) > 8) {
    to_floats(dtype, from, count, out);
  } else {
    const std::array<float, 256>& table = float_table(dtype);
    for (int i = 0; i < count; ++i) out[i] = table[std::to_integer<std::uint8_t>(from[i])];
  }
  std::fill(out + count, out + padded(count), 0.0F);
  return {out, Load::f32};
}

/// All of one side as floats in `out`, padded with zeros.
void widen(const Kernels& isa, DType dtype, const std::byte* from, int count, float* out) {
  const Read read = readable(dtype, from, count, out);
  if (read.from == out && read.load == Load::f32) return;
  alignas(64) std::byte copy[kBlock * 2];  // a short block was padded in `out` itself
  Block block{read.from, nullptr, padded(count), small_format(dtype).value_or(SmallFormat{})};
  if (read.from == out) {
    std::memcpy(copy, out, static_cast<std::size_t>(padded(count)) * width_of(dtype));
    block.a = copy;
  }
  isa.widen[static_cast<int>(read.load)](block, out);
}

}  // namespace

struct Narrow::Input {
  const std::byte* a;
  const std::byte* b;
  std::int64_t base;
  int count;
  bool same_dtype;
  bool equal;  ///< the bits of all elements are
};

void Narrow::block(const std::byte* a, const std::byte* b, std::int64_t base, int count) {
  const bool same = rule_.a == rule_.b;
  const std::size_t width = width_of(rule_.a);
  const bool equal =
      same && width <= 2 && std::memcmp(a, b, static_cast<std::size_t>(count) * width) == 0;
  const Input in{a, b, base, count, same, equal};
  if (wary_ || !first_attempt(in)) second_attempt(in);
}

int Narrow::unequal_codes(const Input& in) const {
  return in.equal ? 0 : compare::unequal_codes(in.a, in.b, in.count, width_of(rule_.a));
}

/// Whether unequal bits are counted by the stored codes: floats would not tell NaN payloads apart
/// once they are cleared, nor bools that are not 0 or 1.
bool Narrow::counts_codes(const Input& in) const {
  return in.same_dtype && width_of(rule_.a) <= 2 && (cleared_ || !native(rule_.a));
}

bool Narrow::first_attempt(const Input& in) {
  cleared_ = false;
  const Read a = readable(rule_.a, in.a, in.count, scratch_.a);
  const SmallFormat format = small_format(rule_.a).value_or(SmallFormat{});
  BlockResult result;
  if (in.equal) {
    rule_.isa->square[static_cast<int>(a.load)]({a.from, nullptr, padded(in.count), format},
                                                result);
    if (!trusted(result.a2)) return false;
    metrics_.sum_a2 += result.a2;
    metrics_.sum_b2 += result.a2;
    return true;
  }
  Read b = readable(rule_.b, in.b, in.count, scratch_.b);
  result.max_rel = rel_;
  const auto rtol = static_cast<float>(rule_.close_rtol);
  const auto atol = static_cast<float>(rule_.close_atol);
  if (a.load == Load::small || b.load == Load::small) {
    if (!in.same_dtype) return false;
    rule_.isa->pair_small({a.from, b.from, padded(in.count), format}, rtol, atol, result);
  } else {
    rule_.isa->pair[static_cast<int>(a.load)][static_cast<int>(b.load)](
        {a.from, b.from, padded(in.count), {}}, rtol, atol, result);
  }
  if (!trusted(result.a2) || !trusted(result.b2)) return false;
  if (!trusted(result.d2) && result.unequal_values != 0) return false;
  accept(in, result, 1);
  return true;
}

void Narrow::second_attempt(const Input& in) {
  wary_ = true;
  widen(*rule_.isa, rule_.a, in.a, in.count, scratch_.a);
  widen(*rule_.isa, rule_.b, in.b, in.count, scratch_.b);
  const Block floats{scratch_.a, scratch_.b, padded(in.count), {}};
  Peaks peaks = rule_.isa->peaks(floats);
  cleared_ = false;
  if (std::max(peaks.a, peaks.b) >= kInfinityBits) {
    const Classes classes = rule_.isa->take_out(scratch_.a, scratch_.b, floats.count);
    cleared_ = true;
    count_classes(in, classes);
    peaks = classes.taken_out == in.count ? Peaks{} : rule_.isa->peaks(floats);
  }
  measure_floats(in, peaks);
}

void Narrow::measure_floats(const Input& in, Peaks peaks) {
  const Block floats{scratch_.a, scratch_.b, padded(in.count), {}};
  const auto good = [&](const BlockResult& result) {
    return (trusted(result.a2) || peaks.a == 0) && (trusted(result.b2) || peaks.b == 0) &&
           (trusted(result.d2) || result.unequal_values == 0);
  };
  const auto rtol = static_cast<float>(rule_.close_rtol);
  BlockResult result;
  result.max_rel = rel_;
  if (peaks.a == 0 && peaks.b == 0) {
    if (!in.equal)
      result.unequal_bits =
          compare::unequal_codes(reinterpret_cast<const std::byte*>(scratch_.a),
                                 reinterpret_cast<const std::byte*>(scratch_.b), in.count, 4);
    return accept(in, result, 1);
  }
  if (!surely_fails(peaks.a) && !surely_fails(peaks.b)) {
    rule_.isa->pair[0][0](floats, rtol, static_cast<float>(rule_.close_atol), result);
    if (good(result)) {
      wary_ = cleared_;
      return accept(in, result, 1);
    }
  }
  const std::uint32_t peak = std::max(peaks.a, peaks.b);
  if (peak < kWorthScaling) {
    const int exponent = std::min(-std::ilogb(std::bit_cast<float>(peak)), 126);
    const float scale = std::ldexp(1.0F, exponent);
    result = {};
    result.max_rel = rel_;
    const double atol = std::ldexp(rule_.close_atol, exponent);
    rule_.isa->scaled(floats, scale, rtol, static_cast<float>(atol), result);
    if (good(result)) return accept(in, result, static_cast<double>(scale));
  }
  sum_wide(in);
}

void Narrow::accept(const Input& in, const BlockResult& result, double scale) {
  metrics_.sum_d2 += result.d2 / scale / scale;
  metrics_.sum_a2 += result.a2 / scale / scale;
  metrics_.sum_b2 += result.b2 / scale / scale;
  metrics_.max_block_d2 = std::max(metrics_.max_block_d2, result.max_d2 / scale / scale);
  metrics_.unequal_bits += counts_codes(in) ? unequal_codes(in) : result.unequal_bits;
  metrics_.unequal_values += result.unequal_values;
  metrics_.beyond_close += result.beyond;
  const double max_abs = static_cast<double>(result.max_abs) / scale;
  if (max_abs > metrics_.max_abs) {
    if (!wary_) {
      widen(*rule_.isa, rule_.a, in.a, in.count, scratch_.a);
      widen(*rule_.isa, rule_.b, in.b, in.count, scratch_.b);
    }
    const auto by = static_cast<float>(scale);
    int at = 0;
    while (at + 1 < in.count &&
           std::fabs(scratch_.b[at] * by - scratch_.a[at] * by) != result.max_abs) {
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
  metrics_.unequal_values += classes.disagree;
  metrics_.beyond_close += classes.disagree;
  if (metrics_.non_finite_index < 0 && classes.first_disagree >= 0) {
    metrics_.non_finite_index = in.base + classes.first_disagree;
  }
  if (!counts_codes(in))
    metrics_.unequal_bits += in.same_dtype ? classes.unequal_bits : classes.disagree;
}

/// The floats in scratch, finite by now, summed in fp64.
void Narrow::sum_wide(const Input& in) {
  WideBlock& wide = scratch_.wide;
  int unequal_bits = 0;
  for (int i = 0; i < in.count; ++i) {
    wide.a[i] = static_cast<double>(scratch_.a[i]);
    wide.b[i] = static_cast<double>(scratch_.b[i]);
    wide.d[i] = std::fabs(wide.b[i] - wide.a[i]);
    metrics_.unequal_values += scratch_.a[i] != scratch_.b[i];
    unequal_bits +=
        std::bit_cast<std::uint32_t>(scratch_.a[i]) != std::bit_cast<std::uint32_t>(scratch_.b[i]);
  }
  metrics_.unequal_bits += counts_codes(in) ? unequal_codes(in) : unequal_bits;
  sum_block(rule_, wide, in.count, in.base, metrics_);
}

}  // namespace ttcheck::compare
