// SPDX-License-Identifier: Apache-2.0
#include "core/compare/ulp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/require.hpp"
#include "core/compare/order_statistics.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kDigit = 18;
constexpr std::size_t kGrowth = 1024;  ///< bins are added so many at a time
constexpr std::size_t kTogether = 32;  ///< distances that are looked at before any is counted
constexpr std::uint32_t kNarrow = 256;
constexpr std::int64_t kFew = 1 << 17;

/// How many numbers have so many bits.
constexpr std::uint64_t numbers_of(int bits) { return std::uint64_t{1} << bits; }

/// Codes in the order of their values.
std::int64_t ordinal(DType unit, double value) {
  if (unit == DType::f8_e8m0) return static_cast<std::int64_t>(code_of(unit, value));
  const auto magnitude = static_cast<std::int64_t>(code_of(unit, std::fabs(value)));
  return std::signbit(value) ? -magnitude : magnitude;
}

/// Counts distances below kNarrow, in tables of their own in turn, since neighbours are often the
/// same and one count would wait for the other.
void count_narrow(std::span<const std::uint32_t> distances, std::uint32_t largest,
                  std::uint64_t* bins) {
  constexpr std::size_t kTables = 4;
  std::array<std::array<std::uint32_t, kNarrow>, kTables> tables{};
  std::size_t i = 0;
  for (; i + kTables <= distances.size(); i += kTables) {
    for (std::size_t k = 0; k < kTables; ++k) ++tables[k][distances[i + k]];
  }
  for (; i < distances.size(); ++i) ++tables[0][distances[i]];
  for (std::uint32_t value = 0; value <= largest; ++value) {
    for (const auto& table : tables) bins[value] += table[value];
  }
}

}  // namespace

DType unit_of(DType a, DType b) {
  a = part_of(a);
  b = part_of(b);
  if (is_exact(a) != is_exact(b)) return is_exact(a) ? b : a;
  if (is_exact(a)) return bits(a) >= bits(b) ? a : b;
  return info(b).mantissa_bits < info(a).mantissa_bits ? b : a;
}

std::uint64_t ulp_distance(DType unit, double a, double b) {
  if (is_exact(unit)) {
    const double distance = std::fabs(b - a);
    return distance < 0x1p64 ? static_cast<std::uint64_t>(distance) : UINT64_MAX;
  }
  const std::int64_t x = ordinal(unit, a);
  const std::int64_t y = ordinal(unit, b);
  return x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
               : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
}

std::optional<UnitFormat> unit_format(DType unit, DType a, DType b) {
  if (!fits_float(a) || !fits_float(b) || is_exact(unit) || is_complex(a) || is_complex(b) ||
      unit == DType::f8_e8m0) {
    return std::nullopt;
  }
  if (bits(unit) <= 8 && a != b) return std::nullopt;
  UnitFormat format;
  const int mantissa = info(unit).mantissa_bits;
  const auto step = static_cast<float>(value_of(unit, 1));
  format.shift = 23 - mantissa;
  format.magic = std::ldexp(step, 23);
  format.least = std::ldexp(step, mantissa);
  format.offset = static_cast<std::uint32_t>(std::ilogb(format.least) + 126) << mantissa;
  format.most = unit == DType::f16 ? 0x7c00 : INT32_MAX;
  return format;
}

UlpSelection::UlpSelection(DType unit, std::int64_t count, const Kernels& isa)
    : isa_(&isa), few_(count <= kFew), leading_(bits(unit) <= 16 ? 16 : 13) {}

/// Distances below 2^(leading + 1) have a bin of their own; of larger ones, those with the same
/// leading bits share one.
std::size_t UlpSelection::first_bin(std::uint64_t distance) const {
  const int open = static_cast<int>(std::bit_width(distance >> leading_ | 1)) - 1;
  return (static_cast<std::size_t>(open) << leading_) + (distance >> open);
}

void UlpSelection::reserve_first(std::uint64_t largest, Counts& counts) const {
  counts.largest = std::max(counts.largest, largest);
  const std::size_t bin = first_bin(largest);
  if (bin >= counts.bins.size()) counts.bins.resize((bin / kGrowth + 1) * kGrowth);
}

void UlpSelection::add_digit(std::uint64_t distance, Counts& counts) const {
  counts.bins.resize(digit_bins_);
  for (const Target& target : targets_) {
    if (target.open == 0 || distance >> target.open != target.prefix) continue;
    const int take = std::min(target.open, kDigit);
    const std::uint64_t digit = (distance >> (target.open - take)) % numbers_of(take);
    ++counts.bins[target.first_digit + digit];
  }
}

void UlpSelection::add(std::uint64_t distance, Counts& counts) const {
  if (distance == 0) {
    ++counts.zeros;
  } else if (started_) {
    add_digit(distance, counts);
  } else if (few_) {
    counts.bins.push_back(distance);
  } else {
    reserve_first(distance, counts);
    ++counts.bins[first_bin(distance)];
  }
}

void UlpSelection::add(std::span<const std::uint32_t> distances, Counts& counts) const {
  if (few_) {
    counts.bins.insert(counts.bins.end(), distances.begin(), distances.end());
  } else if (started_) {
    add_digits(distances, counts);
  } else {
    add_first(distances, counts);
  }
}

void UlpSelection::add(const Census& census, std::size_t count, Counts& counts) const {
  reserve_first(census.largest, counts);
  std::uint64_t zeros = count;
  for (std::uint32_t value = 1; value <= census.largest; ++value) {
    counts.bins[value] += census.of[value];
    zeros -= census.of[value];
  }
  counts.bins[0] += zeros;
}

void UlpSelection::add_first(std::span<const std::uint32_t> distances, Counts& counts) const {
  const Census census = isa_->census(distances.data(), static_cast<int>(distances.size()));
  const std::uint32_t largest = census.largest;
  if (largest < std::size(census.of)) return add(census, distances.size(), counts);
  reserve_first(largest, counts);
  std::uint64_t* bins = counts.bins.data();
  const int leading = leading_;
  if (largest < kNarrow) return count_narrow(distances, largest, bins);
  if (largest >> leading == 0) {
    for (const std::uint32_t distance : distances) ++bins[distance];
    return;
  }
  for (const std::uint32_t distance : distances) {
    const int open = static_cast<int>(std::bit_width(distance >> leading | 1U)) - 1;
    ++bins[(static_cast<std::size_t>(open) << leading) + (distance >> open)];
  }
}

/// Quantile by quantile, as most distances belong to none.
void UlpSelection::add_digits(std::span<const std::uint32_t> distances, Counts& counts) const {
  counts.bins.resize(digit_bins_);
  for (const Target& target : targets_) {
    if (target.open == 0) continue;
    const int take = std::min(target.open, kDigit);
    const int rest = target.open - take;
    const std::uint64_t mask = numbers_of(take) - 1;
    const int open = target.open;
    const auto prefix = static_cast<std::uint32_t>(target.prefix);
    std::uint64_t* bins = counts.bins.data() + target.first_digit;
    for (std::size_t from = 0; from < distances.size(); from += kTogether) {
      const auto some = distances.subspan(from, std::min(kTogether, distances.size() - from));
      bool any = false;
      for (const std::uint32_t distance : some) any |= distance >> open == prefix;
      if (!any) continue;
      for (const std::uint32_t distance : some) {
        if (distance >> open == prefix) ++bins[(distance >> rest) & mask];
      }
    }
  }
}

void UlpSelection::finish_pass(std::span<Counts> all) {
  Counts sum;
  for (Counts& part : all) {
    sum.zeros += part.zeros;
    sum.largest = std::max(sum.largest, part.largest);
    if (sum.bins.empty()) {
      sum.bins = std::move(part.bins);
    } else if (few_) {
      sum.bins.insert(sum.bins.end(), part.bins.begin(), part.bins.end());
    } else {
      sum.bins.resize(std::max(sum.bins.size(), part.bins.size()));
      for (std::size_t i = 0; i < part.bins.size(); ++i) sum.bins[i] += part.bins[i];
    }
  }
  if (few_) {
    pick(sum);
  } else if (started_) {
    refine(sum.bins);
  } else {
    start(std::move(sum));
  }
  started_ = true;
  place_digits();
}

/// The rank of each quantile among `total_`, from 1.
void UlpSelection::rank() {
  for (std::size_t q = 0; q < targets_.size(); ++q) {
    const double share = std::ceil(kQuantiles[q] * static_cast<double>(total_));
    targets_[q].rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share), 1, total_);
  }
}

/// Settles the quantiles of distances that were kept; the zeros stand before them.
void UlpSelection::pick(const Counts& sum) {
  total_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum.bins.size()) + sum.zeros);
  if (total_ == 0) return;
  rank();
  const auto place = [&](const Target& target) {
    return static_cast<std::int64_t>(target.rank) - 1 - sum.zeros;
  };
  const auto first = std::ranges::find_if(targets_, [&](const Target& t) { return place(t) >= 0; });
  std::vector<std::size_t> places;
  for (auto target = first; target != targets_.end(); ++target) {
    places.push_back(static_cast<std::size_t>(place(*target)));
  }
  const std::vector<std::uint64_t> found = order_statistics(sum.bins, places);
  for (std::size_t i = 0; i < found.size(); ++i)
    first[static_cast<std::ptrdiff_t>(i)].prefix = found[i];
}

/// Finds where each quantile lies among the counts of the first pass.
void UlpSelection::start(Counts sum) {
  std::vector<std::uint64_t>& bins = sum.bins;
  bins.resize(std::max<std::size_t>(bins.size(), 1));
  bins[0] += static_cast<std::uint64_t>(sum.zeros);
  total_ = std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
  if (total_ == 0) return;
  rank();
  const std::uint64_t exact = std::uint64_t{1} << leading_;
  for (Target& target : targets_) {
    if (target.rank == total_) {
      target.prefix = sum.largest;
      continue;
    }
    std::size_t bin = 0;
    for (; bins[bin] < target.rank; ++bin) target.rank -= bins[bin];
    target.open = bin < exact ? 0 : static_cast<int>(bin / exact) - 1;
    target.prefix = bin < exact ? bin : exact | (bin % exact);
  }
}

void UlpSelection::refine(const std::vector<std::uint64_t>& sum) {
  for (Target& target : targets_) {
    if (target.open == 0) continue;
    const int take = std::min(target.open, kDigit);
    std::size_t digit = 0;
    for (; sum[target.first_digit + digit] < target.rank; ++digit) {
      target.rank -= sum[target.first_digit + digit];
    }
    target.prefix = target.prefix << take | digit;
    target.open -= take;
  }
}

/// Gives each quantile that is still open its bins for the next pass.
void UlpSelection::place_digits() {
  digit_bins_ = 0;
  for (Target& target : targets_) {
    target.first_digit = digit_bins_;
    if (target.open > 0) digit_bins_ += numbers_of(std::min(target.open, kDigit));
  }
}

int UlpSelection::open() const { return std::ranges::max(targets_, {}, &Target::open).open; }

std::vector<std::pair<double, std::uint64_t>> UlpSelection::quantiles() const {
  require(done(), "all passes");
  std::vector<std::pair<double, std::uint64_t>> found;
  if (total_ == 0) return found;
  for (std::size_t q = 0; q < targets_.size(); ++q)
    found.emplace_back(kQuantiles[q], targets_[q].prefix);
  return found;
}

}  // namespace ttcheck::compare
