// SPDX-License-Identifier: Apache-2.0
#include "core/compare/measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/require.hpp"
#include "core/compare/complex.hpp"
#include "core/compare/floats.hpp"
#include "core/compare/narrow.hpp"
#include "core/compare/rounds.hpp"
#include "core/compare/whole.hpp"
#include "core/compare/wide.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }
ScratchPtr make_scratch() { return ScratchPtr(new Scratch); }

namespace {

class Measuring {
 public:
  Measuring(const Rule& rule, std::int64_t base, Scratch& scratch)
      : rule_(rule),
        base_(base),
        scratch_(scratch),
        narrow_(rule, scratch, metrics_),
        whole_(rule, metrics_) {
    metrics_.rounds_to_candidate = rounds_to(rule.a, rule.b);
    metrics_.rounds_to_reference = rounds_to(rule.b, rule.a);
  }

  Metrics take() { return metrics_; }

  /// Elements [at, at + count) of the buffers.
  void block(std::span<const std::byte> a, std::span<const std::byte> b, std::int64_t at,
             int count) {
    const std::byte* stored_a = stored_at(rule_.a, a, at, count, scratch_.codes_a);
    const std::byte* stored_b = stored_at(rule_.b, b, at, count, scratch_.codes_b);
    if (!rule_.wide) {
      narrow_.block(stored_a, stored_b, base_ + at, count);
    } else if (!whole_.add(stored_a, stored_b, base_ + at, count)) {
      wide(stored_a, stored_b, base_ + at, count);
    }
    if (rule_.rtol || rule_.atol) {
      Metrics ignored;
      decode_block(rule_, stored_a, stored_b, count, base_ + at, scratch_.wide, ignored,
                   Unequal::passed_over);
      quotient_block(rule_, scratch_.wide, count, base_ + at, metrics_);
    }
    if (metrics_.rounds_to_candidate) {
      metrics_.rounds_to_candidate =
          rounds_block(*rule_.isa, rule_.a, stored_a, rule_.b, stored_b, count);
    }
    if (metrics_.rounds_to_reference) {
      metrics_.rounds_to_reference =
          rounds_block(*rule_.isa, rule_.b, stored_b, rule_.a, stored_a, count);
    }
  }

 private:
  void wide(const std::byte* a, const std::byte* b, std::int64_t base, int count) {
    const bool equal = rule_.a == rule_.b &&
                       std::memcmp(a, b, static_cast<std::size_t>(count) * width_of(rule_.a)) == 0;
    if (equal && add_equal_block(rule_, a, count, scratch_.wide, metrics_)) return;
    if (is_c64(rule_) && add_c64_block(rule_, a, b, count, base, scratch_.wide, metrics_)) return;
    decode_block(rule_, a, b, count, base, scratch_.wide, metrics_);
    sum_block(rule_, scratch_.wide, count, base, metrics_);
  }

  const Rule& rule_;
  std::int64_t base_;
  Scratch& scratch_;
  Metrics metrics_;
  Narrow narrow_;
  WholeBlocks whole_;
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

/// True when elements [at, at + count) are each as the one before. REQUIRES whole bytes.
bool repeats(DType dtype, std::span<const std::byte> bytes, std::int64_t at, std::int64_t count) {
  const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
  const auto begin = static_cast<std::size_t>(std::max<std::int64_t>(at, 1)) * width;
  const std::size_t end = static_cast<std::size_t>(at + count) * width;
  return std::memcmp(bytes.data() + begin - width, bytes.data() + begin, end - begin) == 0;
}

/// reference_constant over the elements that take part.
void find_constant(DType dtype, std::span<const std::byte> bytes, std::int64_t base,
                   std::int64_t count, std::span<const LinearRange> left_out, Metrics& metrics) {
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

void clear_elements(DType dtype, std::span<std::byte> bytes, std::int64_t begin, std::int64_t end) {
  const int width = bits(dtype);
  if (width % 8 == 0) {
    const auto bytes_each = static_cast<std::size_t>(width) / 8;
    std::memset(bytes.data() + static_cast<std::size_t>(begin) * bytes_each, 0,
                static_cast<std::size_t>(end - begin) * bytes_each);
  } else {
    for (std::int64_t bit = begin * width; bit < end * width; ++bit) {
      bytes[static_cast<std::size_t>(bit / 8)] &= ~(std::byte{1} << static_cast<int>(bit % 8));
    }
  }
}

Metrics measure(const Rule& rule, std::int64_t base, std::int64_t count, std::span<std::byte> a,
                std::span<std::byte> b, std::span<const LinearRange> left_out, Scratch& scratch) {
  require(base % kBlock == 0, "whole blocks ahead");
  if constexpr (kRequires) {
    require(a.size() == byte_size(rule.a, count), "the reference's elements");
    require(b.size() == byte_size(rule.b, count), "the candidate's elements");
  }
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
  const bool whole = left_out.empty() && bits(rule.a) >= 8;
  bool constant = true;
  Measuring measuring(rule, base, scratch);
  for (std::int64_t at = 0; at < count; at += kBlock) {
    const auto n = static_cast<int>(std::min<std::int64_t>(kBlock, count - at));
    measuring.block(a, b, at, n);
    if (whole && constant) constant = repeats(rule.a, a, at, n);  // while it is at hand
  }
  Metrics metrics = measuring.take();
  metrics.count = count - out;
  if (whole) {
    metrics.constant_bits = bits_at(rule.a, a, 0);
    metrics.reference_constant = constant;
  } else {
    find_constant(rule.a, a, base, count, left_out, metrics);
  }
  return metrics;
}

}  // namespace ttcheck::compare
