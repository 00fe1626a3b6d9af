// SPDX-License-Identifier: Apache-2.0
#include "core/noise/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace ttcheck::noise {
namespace {

double usual_of(const StoredStats& stats, double l2) {
  return l2 / std::sqrt(static_cast<double>(std::max<std::int64_t>(stats.numel, 1)));
}

}  // namespace

const StoredStats* statistics_alone(const Tensor& tensor) {
  return !tensor.stored && tensor.trace && tensor.trace->stats ? &*tensor.trace->stats : nullptr;
}

double size_told(const StoredStats& stats) {
  return stats.l2 ? usual_of(stats, *stats.l2) : std::max(std::abs(stats.min), std::abs(stats.max));
}

double extremes_apart(const StoredStats& a, const StoredStats& b) {
  return std::max(std::abs(b.min - a.min), std::abs(b.max - a.max));
}

Magnitude apart_told(const StoredStats& a, const StoredStats& b) {
  Magnitude size;
  if (a.l2 && b.l2) size.usual = usual_of(a, std::abs(*b.l2 - *a.l2));
  size.most = extremes_apart(a, b);
  if (a.mean && b.mean) size.most = std::max(size.most, std::abs(*b.mean - *a.mean));
  return size;
}

}  // namespace ttcheck::noise
