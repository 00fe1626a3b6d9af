// SPDX-License-Identifier: Apache-2.0
#include "core/compare/whole.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/compare/floats.hpp"

namespace ttcheck::compare {
namespace {

std::optional<Whole> kernel_of(const Rule& rule) {
  const auto whole = common_whole(rule.a, rule.b);
  return whole && static_cast<int>(*whole) < kShortWholes ? whole : std::nullopt;
}

std::int64_t value_at(Whole whole, const std::byte* from, int at) {
  if (whole == Whole::u8 || whole == Whole::i8) {
    const auto code = std::to_integer<std::uint8_t>(from[at]);
    return whole == Whole::i8 ? static_cast<std::int8_t>(code) : code;
  }
  std::uint16_t code;
  std::memcpy(&code, from + 2 * at, sizeof code);
  return whole == Whole::i16 ? static_cast<std::int16_t>(code) : code;
}

}  // namespace

bool are_truth_values(const std::byte* codes, int count) {
  constexpr std::uint64_t kOther = 0xfefefefefefefefe;
  std::uint64_t any = 0;
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, codes + i, sizeof eight);
    any |= eight;
  }
  for (; i < count; ++i) any |= std::to_integer<std::uint64_t>(codes[i]);
  return (any & kOther) == 0;
}

WholeBlocks::WholeBlocks(const Rule& rule, Metrics& metrics)
    : rule_(rule), metrics_(metrics), whole_(kernel_of(rule)) {}

bool WholeBlocks::add(const std::byte* a, const std::byte* b, std::int64_t base, int count) {
  if (!whole_) return false;
  const std::size_t width = width_of(rule_.a);
  const bool equal = std::memcmp(a, b, static_cast<std::size_t>(count) * width) == 0;
  if (rule_.a == DType::boolean &&
      (!are_truth_values(a, count) || (!equal && !are_truth_values(b, count)))) {
    return false;
  }
  if (equal) {
    add_equal(a, count);
    return true;
  }
  for (int part = 0; part < count; part += kFlush) {
    const std::size_t at = static_cast<std::size_t>(part) * width;
    add_part(a + at, b + at, base + part, std::min(kFlush, count - part));
  }
  return true;
}

void WholeBlocks::add_equal(const std::byte* stored, int count) {
  const std::size_t width = width_of(rule_.a);
  for (int part = 0; part < count; part += kFlush) {
    const auto a2 = static_cast<double>(rule_.isa->integer_squares[static_cast<int>(*whole_)](
        stored + static_cast<std::size_t>(part) * width, std::min(kFlush, count - part)));
    metrics_.sum_a2 += a2;
    metrics_.sum_b2 += a2;
  }
}

void WholeBlocks::add_part(const std::byte* a, const std::byte* b, std::int64_t base, int count) {
  IntegerSums sums;
  rule_.isa->integer_sums[static_cast<int>(*whole_)](a, b, count, rel_, sums);
  metrics_.sum_a2 += static_cast<double>(sums.a2);
  metrics_.sum_b2 += static_cast<double>(sums.b2);
  metrics_.sum_d2 += static_cast<double>(sums.d2);
  metrics_.max_block_d2 = std::max(metrics_.max_block_d2, static_cast<double>(sums.d2));
  metrics_.unequal_bits += sums.unequal;
  metrics_.unequal_values += sums.unequal;
  metrics_.beyond_close += sums.unequal;  // integers compare exactly
  if (sums.rises || sums.most > metrics_.max_abs) raise_maxima(a, b, base, count);
}

void WholeBlocks::raise_maxima(const std::byte* a, const std::byte* b, std::int64_t base,
                               int count) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t x = value_at(*whole_, a, i), y = value_at(*whole_, b, i);
    const std::int64_t distance = std::abs(y - x), larger = std::max(std::abs(x), std::abs(y));
    if (static_cast<double>(distance) > metrics_.max_abs) {
      metrics_.max_abs = static_cast<double>(distance);
      metrics_.max_abs_index = base + i;
    }
    if (distance * rel_.below > larger * rel_.above) {
      rel_ = {static_cast<int>(distance), static_cast<int>(larger)};
      metrics_.max_rel = static_cast<double>(distance) / static_cast<double>(larger);
      metrics_.max_rel_index = base + i;
    }
  }
}

}  // namespace ttcheck::compare
