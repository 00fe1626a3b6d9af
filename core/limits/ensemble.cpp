// SPDX-License-Identifier: Apache-2.0
// The energy distance of two groups (Szekely and Rizzo, "Energy statistics", 2013) needs nothing
// but distances between runs, and over the median of all of them it has no scale, so that a noise
// floor that grows with depth does not matter. Its p-value comes from relabelling: if the groups
// are of one kind, any other way to part the runs would give as large an energy as often as not.
// One relabelling is applied to all tensors at once, and each tensor is held to the largest energy
// that any of them reaches under it (Westfall and Young, "Resampling-Based Multiple Testing",
// 1993), so that the chance of one false alarm among all tensors, which depend on each other in
// ways that nobody knows, is the level that was asked for.

#include "core/limits/ensemble.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/base/parallel.hpp"
#include "core/base/require.hpp"

namespace ttcheck::limits {
namespace {

constexpr double kMostWork = 4e9;  // relabellings x tensors x pairs

/// Bit i: run i is in group A.
using Labels = std::uint32_t;

/// All ways to part the runs, the one that was given first. Of two groups of one size a labelling
/// and its complement are the same.
std::vector<Labels> labellings(std::size_t first, std::size_t runs) {
  const Labels given = (Labels{1} << first) - 1;
  std::vector<Labels> all{given};
  for (Labels labels = 0; labels < (Labels{1} << runs); ++labels) {
    if (static_cast<std::size_t>(std::popcount(labels)) != first || labels == given) continue;
    if (first * 2 == runs && (labels & 1U) == 0) continue;
    all.push_back(labels);
  }
  return all;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::ranges::max_element(values.begin(), middle)) / 2;
}

/// The pairs (i, j) of `runs` in order.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(std::size_t runs) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < runs; ++i) {
    for (std::size_t j = i + 1; j < runs; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

/// What each pair's distance counts in the energy of a labelling.
std::vector<double> weights_of(Labels labels, std::size_t runs) {
  const auto in_a = static_cast<double>(std::popcount(labels));
  const double in_b = static_cast<double>(runs) - in_a;
  std::vector<double> weights;
  for (const auto& [i, j] : pairs_of(runs)) {
    const bool a = ((labels >> i) & 1U) != 0, b = ((labels >> j) & 1U) != 0;
    if (a != b) {
      weights.push_back(2 / (in_a * in_b));
    } else {
      const double size = a ? in_a : in_b;
      weights.push_back(-2 / (size * (size - 1)));
    }
  }
  return weights;
}

double energy(const Distances& distances, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) sum += weights[i] * distances[i];
  return sum;
}

/// Over the median of all, or the mean where most runs are equal.
Distances scaled(const Distances& distances) {
  double scale = median(distances);
  if (scale == 0) {
    for (const double one : distances) scale += one / static_cast<double>(distances.size());
  }
  Distances result = distances;
  if (scale > 0) {
    for (double& one : result) one /= scale;
  }
  return result;
}

Separation medians_of(const Distances& distances, std::size_t first, std::size_t runs) {
  std::vector<double> within, between;
  std::size_t at = 0;
  for (const auto& [i, j] : pairs_of(runs)) {
    ((i < first) == (j < first) ? within : between).push_back(distances[at++]);
  }
  Separation one;
  one.floor = median(std::move(within));
  one.between = median(std::move(between));
  return one;
}

}  // namespace

std::size_t pair_at(std::size_t i, std::size_t j, std::size_t runs) {
  return i * runs - i * (i + 1) / 2 + (j - i - 1);
}

Ensemble separate(std::span<const Distances> tensors, std::size_t first, std::size_t runs,
                  double level) {
  require(first >= 2 && first + 2 <= runs && runs <= 16, "two groups of two runs or more");
  std::vector<Labels> labels = labellings(first, runs);
  const double pairs = static_cast<double>(runs * (runs - 1)) / 2;
  const double work = static_cast<double>(labels.size() * tensors.size()) * pairs;
  const auto step = static_cast<std::size_t>(work / kMostWork) + 1;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < labels.size(); i += step) labels[kept++] = labels[i];
  labels.resize(kept);
  Ensemble result;
  result.relabellings = labels.size();
  std::vector<Distances> all;
  for (const Distances& one : tensors) {
    all.push_back(scaled(one));
    Separation& found = result.tensors.emplace_back(medians_of(one, first, runs));
    found.energy = energy(all.back(), weights_of(labels.front(), runs));
  }
  std::vector<double> largest(labels.size());
  parallel_for(labels.size(), [&](std::size_t i) {
    const std::vector<double> weights = weights_of(labels[i], runs);
    double most = 0;
    for (const Distances& one : all) most = std::max(most, energy(one, weights));
    largest[i] = most;
  });
  std::ranges::sort(largest, std::greater{});
  const auto count = static_cast<double>(largest.size());
  // So many relabellings may reach an energy whose p is below the level.
  const auto allowed = static_cast<std::size_t>(std::ceil(level * count)) - 1;
  result.decidable = allowed > 0;
  result.critical = largest[std::min(allowed, largest.size() - 1)];
  for (Separation& one : result.tensors) {
    const auto reached = std::ranges::upper_bound(largest, one.energy, std::greater{});
    one.p = static_cast<double>(reached - largest.begin()) / count;
  }
  return result;
}

}  // namespace ttcheck::limits
