#include "core/compare/ulp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kLeading = 10;  // bits below the highest one that the first pass tells apart
constexpr std::uint64_t kExact = std::uint64_t{1}
                                 << kLeading;  // smaller distances have their own bin
constexpr std::size_t kFirstBins = kExact * (64 - kLeading + 1);
constexpr int kDigit = 16;
constexpr std::size_t kDigitBins = std::size_t{1} << kDigit;

/// Codes in the order of their values.
std::int64_t ordinal(DType unit, double value) {
  if (unit == DType::f8_e8m0) return static_cast<std::int64_t>(code_of(unit, value));
  const auto magnitude = static_cast<std::int64_t>(code_of(unit, std::fabs(value)));
  return std::signbit(value) ? -magnitude : magnitude;
}

std::size_t first_bin(std::uint64_t distance) {
  if (distance < kExact) return distance;
  const int open = static_cast<int>(std::bit_width(distance)) - kLeading - 1;
  return kExact * static_cast<std::size_t>(open + 1) + ((distance >> open) & (kExact - 1));
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

UlpSelection::Counts UlpSelection::counts() const {
  return Counts(started_ ? kDigitBins * targets_.size() : kFirstBins);
}

void UlpSelection::add(std::uint64_t distance, Counts& counts) const {
  if (!started_) {
    ++counts[first_bin(distance)];
    return;
  }
  for (std::size_t q = 0; q < targets_.size(); ++q) {
    const Target& target = targets_[q];
    if (target.open == 0 || distance >> target.open != target.prefix) continue;
    const int take = std::min(target.open, kDigit);
    const std::uint64_t digit =
        (distance >> (target.open - take)) & ((std::uint64_t{1} << take) - 1);
    ++counts[q * kDigitBins + digit];
  }
}

void UlpSelection::add_zeros(std::int64_t number, Counts& counts) const {
  if (!started_) counts[0] += static_cast<std::uint64_t>(number);
}

void UlpSelection::finish_pass(std::span<const Counts> all) {
  Counts sum = counts();
  for (const Counts& part : all) {
    for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
  }
  started_ ? refine(sum) : start(sum);
}

void UlpSelection::start(const Counts& sum) {
  started_ = true;
  for (const std::uint64_t count : sum) total_ += count;
  if (total_ == 0) return;
  for (std::size_t q = 0; q < targets_.size(); ++q) {
    Target& target = targets_[q];
    const double share = std::ceil(kQuantiles[q] * static_cast<double>(total_));
    target.rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share), 1, total_);
    std::size_t bin = 0;
    for (; sum[bin] < target.rank; ++bin) target.rank -= sum[bin];
    target.open = bin < kExact ? 0 : static_cast<int>(bin / kExact) - 1;
    target.prefix = bin < kExact ? bin : kExact | (bin % kExact);
  }
}

void UlpSelection::refine(const Counts& sum) {
  for (std::size_t q = 0; q < targets_.size(); ++q) {
    Target& target = targets_[q];
    if (target.open == 0) continue;
    const int take = std::min(target.open, kDigit);
    std::size_t digit = 0;
    for (; sum[q * kDigitBins + digit] < target.rank; ++digit) {
      target.rank -= sum[q * kDigitBins + digit];
    }
    target.prefix = target.prefix << take | digit;
    target.open -= take;
  }
}

int UlpSelection::open() const { return std::ranges::max(targets_, {}, &Target::open).open; }

std::vector<std::pair<double, std::uint64_t>> UlpSelection::quantiles() const {
  std::vector<std::pair<double, std::uint64_t>> found;
  if (total_ == 0) return found;
  for (std::size_t q = 0; q < targets_.size(); ++q)
    found.emplace_back(kQuantiles[q], targets_[q].prefix);
  return found;
}

}  // namespace ttcheck::compare
