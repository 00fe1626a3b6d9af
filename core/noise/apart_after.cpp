// SPDX-License-Identifier: Apache-2.0
#include "core/noise/apart_after.hpp"

#include <algorithm>
#include <cmath>

namespace ttcheck::noise {

limits::Apart apart_after(std::span<const TensorResult> results, const limits::Apart& before) {
  limits::Apart apart;
  apart.diverged = before.diverged;
  for (const TensorResult& result : results) {
    if (result.kind != Kind::weight || result.identity.phase != Phase::optimizer) continue;
    if (result.outcome() == Outcome::diverged) {
      apart.diverged.insert(result.identity.name);
    } else {
      apart.diverged.erase(result.identity.name);
    }
    if (result.outcome() != Outcome::noise) continue;
    const double rel = result.metrics.rel();
    if (!std::isfinite(rel)) continue;  // of a parameter that was all zeros
    const bool settled = result.test == Test::rel && result.error < rel;
    apart.noise = std::hypot(apart.noise, settled ? result.error : rel);
    if (!settled || result.identity.name.ends_with("bias")) continue;
    apart.chance = std::hypot(apart.chance, std::sqrt(rel * rel - result.error * result.error));
  }
  apart.chance = std::max(apart.chance, before.chance);  // nothing brings them together again
  return apart;
}

}  // namespace ttcheck::noise
