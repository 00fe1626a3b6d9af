#include "core/compare/measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/compare/rounds.hpp"
#include "core/compare/wide.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }
ScratchPtr make_scratch() { return ScratchPtr(new Scratch); }

namespace {

/// Below this, squares of fp32 numbers may have lost bits to underflow (2048 x 2^-150 is 2^-29 of
/// it).
constexpr double kTiny = 0x1p-110;

struct Tolerances {
  double rtol, atol;
};

Tolerances defaults_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::c32:
      return {1e-3, 1e-5};
    case DType::bf16:
      return {1.6e-2, 1e-5};
    case DType::f32:
    case DType::c64:
      return {1.3e-6, 1e-5};
    case DType::f64:
    case DType::c128:
      return {1e-7, 1e-7};
    default:
      return {0, 0};  // integers, bool, and the 8-bit floats and below, which compare exactly
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
      return std::nullopt;
  }
}

bool trusted(double sum) { return sum >= kTiny && sum <= std::numeric_limits<double>::max(); }

/// One side of one block.
struct Side {
  DType dtype;
  const std::byte* stored;  ///< one byte a code for packed dtypes
  const void* read;         ///< what the kernel reads
  Load load;
};

class Measuring {
 public:
  Measuring(const Rule& rule, std::int64_t base, Scratch& scratch)
      : rule_(rule), base_(base), scratch_(scratch) {
    rounding_to_b_ = rounds_to(rule.a, rule.b);
    rounding_to_a_ = rounds_to(rule.b, rule.a);
    metrics_.rounds_to_candidate = rounding_to_b_;
    metrics_.rounds_to_reference = rounding_to_a_;
  }

  Metrics take() { return metrics_; }

  /// Elements [at, at + count) of the buffers.
  void block(std::span<const std::byte> a, std::span<const std::byte> b, std::int64_t at,
             int count) {
    const std::byte* stored_a = stored_at(rule_.a, a, at, count, scratch_.codes_a);
    const std::byte* stored_b = stored_at(rule_.b, b, at, count, scratch_.codes_b);
    if (rule_.wide || !narrow(stored_a, stored_b, at, count)) {
      decode_block(rule_, stored_a, stored_b, count, base_ + at, scratch_.wide, metrics_);
      sum_block(rule_, scratch_.wide, count, base_ + at, metrics_);
    }
    if (rule_.rtol || rule_.atol) {
      Metrics ignored;
      decode_block(rule_, stored_a, stored_b, count, base_ + at, scratch_.wide, ignored);
      quotient_block(rule_, scratch_.wide, count, base_ + at, metrics_);
    }
    if (metrics_.rounds_to_candidate) {
      metrics_.rounds_to_candidate = rounds_block(rule_.a, stored_a, rule_.b, stored_b, count);
    }
    if (metrics_.rounds_to_reference) {
      metrics_.rounds_to_reference = rounds_block(rule_.b, stored_b, rule_.a, stored_a, count);
    }
  }

 private:
  /// What the kernel reads of one side: the stored elements themselves, or floats in `out`, padded
  /// with zeros to a multiple of 16.
  static std::pair<const void*, Load> readable(DType dtype, const std::byte* from, int count,
                                               float* out) {
    const int padded = (count + kLanes - 1) / kLanes * kLanes;
    if (const auto load = native(dtype)) {
      if (padded == count) return {from, *load};
      const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
      std::memset(out, 0, static_cast<std::size_t>(padded) * width);
      std::memcpy(out, from, static_cast<std::size_t>(count) * width);
      return {out, *load};
    }
    if (bits(dtype) > 8) {
      to_floats(dtype, from, count, out);
    } else {
      const int whole = count / kLanes * kLanes;
      const std::array<float, 256>& table = float_table(dtype);
      const auto* codes = reinterpret_cast<const std::uint8_t*>(from);
      kernels().expand(codes, table.data(), whole, out);
      for (int i = whole; i < count; ++i) out[i] = table[codes[i]];
    }
    std::fill(out + count, out + padded, 0.0F);
    return {out, Load::f32};
  }

  /// The fp32 kernel; false when its sums cannot be trusted.
  bool narrow(const std::byte* a, const std::byte* b, std::int64_t at, int count) {
    const auto width = static_cast<std::size_t>(std::max(bits(rule_.a) / 8, 1));
    const int padded = (count + kLanes - 1) / kLanes * kLanes;
    const auto [read_a, load_a] = readable(rule_.a, a, count, scratch_.a);
    BlockResult result;
    if (rule_.a == rule_.b && width <= 2 &&
        std::memcmp(a, b, static_cast<std::size_t>(count) * width) == 0) {
      kernels().square[static_cast<int>(load_a)]({read_a, nullptr, padded}, result);
      if (!trusted(result.a2)) return false;
      metrics_.sum_a2 += result.a2;
      metrics_.sum_b2 += result.a2;
      return true;
    }
    const auto [read_b, load_b] = readable(rule_.b, b, count, scratch_.b);
    result.max_rel = rel_;
    kernels().pair[static_cast<int>(load_a)][static_cast<int>(load_b)](
        {read_a, read_b, padded}, static_cast<float>(rule_.close_rtol),
        static_cast<float>(rule_.close_atol), result);
    if (!trusted(result.a2) || !trusted(result.b2)) return false;
    if (!trusted(result.d2) && result.unequal_values != 0) return false;
    if (rule_.a == rule_.b && width == 1) result.unequal_bits = unequal_bytes(a, b, count);
    accept({rule_.a, a, read_a, load_a}, {rule_.b, b, read_b, load_b}, at, count, result);
    return true;
  }

  static int unequal_bytes(const std::byte* a, const std::byte* b, int count) {
    int unequal = 0;
    for (int i = 0; i < count; ++i) unequal += a[i] != b[i];
    return unequal;
  }

  void accept(const Side& a, const Side& b, std::int64_t at, int count, const BlockResult& result) {
    metrics_.sum_d2 += result.d2;
    metrics_.sum_a2 += result.a2;
    metrics_.sum_b2 += result.b2;
    metrics_.max_block_d2 = std::max(metrics_.max_block_d2, result.max_d2);
    metrics_.unequal_bits += result.unequal_bits;
    metrics_.unequal_values += result.unequal_values;
    metrics_.beyond_close += result.beyond;
    if (static_cast<double>(result.max_abs) > metrics_.max_abs) {
      metrics_.max_abs = static_cast<double>(result.max_abs);
      metrics_.max_abs_index = base_ + at + first_at_distance(a, b, count, result.max_abs);
    }
    rel_ = result.max_rel;
    if (result.rel_at >= 0 && static_cast<double>(result.max_rel) > metrics_.max_rel) {
      metrics_.max_rel = static_cast<double>(result.max_rel);
      metrics_.max_rel_index = base_ + at + result.rel_at;
    }
  }

  static float value(const Side& side, int i) {
    switch (side.load) {
      case Load::bf16:
        return widen_bf16(static_cast<const std::uint16_t*>(side.read)[i]);
      case Load::f16:
        return widen_f16(static_cast<const std::uint16_t*>(side.read)[i]);
      default:
        break;
    }
    float out;
    std::memcpy(&out, static_cast<const std::byte*>(side.read) + 4 * i, sizeof out);
    return out;
  }

  static int first_at_distance(const Side& a, const Side& b, int count, float distance) {
    for (int i = 0; i < count; ++i) {
      if (std::fabs(value(b, i) - value(a, i)) == distance) return i;
    }
    return 0;
  }

  const Rule& rule_;
  std::int64_t base_;
  Scratch& scratch_;
  Metrics metrics_;
  float rel_ = 0;  ///< running maximum of the fp32 kernel
  bool rounding_to_a_ = false, rounding_to_b_ = false;
};

/// The bits of one element, in two words.
std::array<std::uint64_t, 2> bits_at(DType dtype, std::span<const std::byte> bytes,
                                     std::int64_t at) {
  std::array<std::uint64_t, 2> out{};
  const int width = bits(dtype);
  if (width >= 8) {
    const auto each = static_cast<std::size_t>(width) / 8;
    std::memcpy(out.data(), bytes.data() + static_cast<std::size_t>(at) * each, each);
    return out;
  }
  for (int i = 0; i < width; ++i) {
    const std::int64_t bit = at * width + i;
    const auto byte = std::to_integer<unsigned>(bytes[static_cast<std::size_t>(bit / 8)]);
    out[0] |= static_cast<std::uint64_t>((byte >> (bit % 8)) & 1) << i;
  }
  return out;
}

/// reference_constant over the elements that take part.
void find_constant(DType dtype, std::span<const std::byte> bytes, std::int64_t base,
                   std::int64_t count, std::span<const LinearRange> left_out, Metrics& metrics) {
  const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
  if (left_out.empty() && width > 0) {
    metrics.constant_bits = bits_at(dtype, bytes, 0);
    const auto rest = (static_cast<std::size_t>(count) - 1) * width;
    metrics.reference_constant = std::memcmp(bytes.data(), bytes.data() + width, rest) == 0;
    return;
  }
  std::size_t hole = 0;
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) {
    while (hole < left_out.size() && left_out[hole].end <= base + i) ++hole;
    if (hole < left_out.size() && left_out[hole].begin <= base + i) {
      i = left_out[hole].end - base - 1;
      continue;
    }
    const auto code = bits_at(dtype, bytes, i);
    if (!any) {
      metrics.constant_bits = code;
      any = true;
    } else if (code != metrics.constant_bits) {
      metrics.reference_constant = false;
      return;
    }
  }
}

}  // namespace

Rule rule_for(DType a, DType b, bool exact_sums) {
  Rule rule;
  rule.a = a;
  rule.b = b;
  const Tolerances of_a = defaults_of(a);
  const Tolerances of_b = defaults_of(b);
  rule.close_rtol = std::max(of_a.rtol, of_b.rtol);
  rule.close_atol = std::max(of_a.atol, of_b.atol);
  rule.wide = exact_sums || !fits_float(a) || !fits_float(b) || is_complex(a) || is_complex(b);
  return rule;
}

void clear_elements(DType dtype, std::span<std::byte> bytes, std::int64_t begin, std::int64_t end) {
  const int width = bits(dtype);
  if (width >= 8) {
    const auto bytes_each = static_cast<std::size_t>(width) / 8;
    std::memset(bytes.data() + static_cast<std::size_t>(begin) * bytes_each, 0,
                static_cast<std::size_t>(end - begin) * bytes_each);
    return;
  }
  for (std::int64_t bit = begin * width; bit < end * width; ++bit) {
    bytes[static_cast<std::size_t>(bit / 8)] &= ~(std::byte{1} << static_cast<int>(bit % 8));
  }
}

Metrics measure(const Rule& rule, std::int64_t base, std::int64_t count, std::span<std::byte> a,
                std::span<std::byte> b, std::span<const LinearRange> left_out, Scratch& scratch) {
  std::int64_t out = 0;
  for (const LinearRange& range : left_out) {
    const std::int64_t begin = std::max(range.begin - base, std::int64_t{0});
    const std::int64_t end = std::min(range.end - base, count);
    if (begin >= end) continue;
    clear_elements(rule.a, a, begin, end);
    clear_elements(rule.b, b, begin, end);
    out += end - begin;
  }
  if (out == count) return {};
  Measuring measuring(rule, base, scratch);
  for (std::int64_t at = 0; at < count; at += kBlock) {
    const auto n = static_cast<int>(std::min<std::int64_t>(kBlock, count - at));
    measuring.block(a, b, at, n);
  }
  Metrics metrics = measuring.take();
  metrics.count = count - out;
  find_constant(rule.a, a, base, count, left_out, metrics);
  return metrics;
}

}  // namespace ttcheck::compare
