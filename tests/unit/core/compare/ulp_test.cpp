// SPDX-License-Identifier: Apache-2.0
#include "core/compare/ulp.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace ttcheck::compare {
namespace {

using Quantiles = std::vector<std::pair<double, std::uint64_t>>;

/// By sorting them all.
Quantiles oracle(std::vector<std::uint32_t> distances) {
  std::ranges::sort(distances);
  Quantiles found;
  for (const double quantile : kQuantiles) {
    const double rank = std::ceil(quantile * static_cast<double>(distances.size()));
    found.emplace_back(quantile,
                       distances[std::max(static_cast<std::size_t>(rank), std::size_t{1}) - 1]);
  }
  return found;
}

/// Seen by two threads, as blocks and one by one; `extra` zeros are seen and taken back.
Quantiles selected(const std::vector<std::uint32_t>& distances, std::int64_t extra) {
  UlpSelection selection(DType::f32, static_cast<std::int64_t>(distances.size()), kernels());
  while (!selection.done()) {
    std::array<UlpSelection::Counts, 2> counts;
    const std::span all(distances);
    const std::size_t half = all.size() / 2;
    selection.add(all.first(half), counts[0]);
    for (const std::uint32_t distance : all.subspan(half)) selection.add(distance, counts[1]);
    selection.add(std::vector<std::uint32_t>(static_cast<std::size_t>(extra)), counts[0]);
    counts[0].zeros -= extra;
    selection.finish_pass(counts);
  }
  return selection.quantiles();
}

/// All bit widths are as likely as each other.
std::vector<std::uint32_t> spread(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> distances(count);
  for (std::uint32_t& distance : distances) {
    distance = static_cast<std::uint32_t>(random()) >> random() % 32;
  }
  return distances;
}

TEST_CASE("quantiles of few and of many distances are those of the sorted list") {
  for (const std::size_t count : {1U, 2U, 3U, 10U, 1024U, 1U << 17, (1U << 17) + 1}) {
    CAPTURE(count);
    const auto distances = spread(count);
    CHECK(selected(distances, 0) == oracle(distances));
    CHECK(selected(distances, 5) == oracle(distances));
  }
}

TEST_CASE("quantiles of distances that begin alike, and of zeros") {
  std::vector<std::uint32_t> distances(1000);
  CHECK(selected(distances, 3) == oracle(distances));
  for (std::size_t i = 0; i < distances.size(); ++i) {
    distances[i] = static_cast<std::uint32_t>((1U << 20) + i * 7 % 1000);
  }
  CHECK(selected(distances, 3) == oracle(distances));
  CHECK(selected({}, 0).empty());
}

}  // namespace
}  // namespace ttcheck::compare
