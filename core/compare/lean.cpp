// SPDX-License-Identifier: Apache-2.0
#include "core/compare/lean.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/compare/pair_values.hpp"
#include "core/compare/sampled.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::size_t kLeast = 256;
constexpr double kSure = 5;  // standard deviations of a rank

}  // namespace

std::optional<Lean> lean_of(const Pair& pair, const Stop& stop) {
  if (stop && stop()) throw Stopped();
  PairValues values(pair);
  std::vector<double> offs;
  for (const auto& [begin, size] : sampled_ranges(element_count(pair.reference->shape))) {
    const auto a = values.reference(begin, size), b = values.candidate(begin, size);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double off = b[k] / a[k] - 1;
      if (a[k] != 0 && std::isfinite(off)) offs.push_back(off);
    }
  }
  if (offs.size() < kLeast) return std::nullopt;
  // The median of all lies between these ranks, whatever the values are distributed like.
  const double half = static_cast<double>(offs.size()) / 2;
  const double wide = kSure * std::sqrt(static_cast<double>(offs.size())) / 2;
  const auto at = [&](double rank) {
    const auto place = offs.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(offs, place);
    return *place;
  };
  const double low = at(half - wide), high = at(half + wide);
  return Lean{at(half), low > 0 ? low : high < 0 ? high : 0};
}

}  // namespace ttcheck::compare
