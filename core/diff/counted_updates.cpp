// SPDX-License-Identifier: Apache-2.0
#include "core/diff/counted_updates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ttcheck::diff {

double counted_updates(const Work& work, std::span<const compare::Compared> compared) {
  double most = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const Metrics& metrics = compared[i].metrics;
    if (work.pairs[i].reference->kind != Kind::step || metrics.count != 1) continue;
    if (compared[i].whole()) most = std::max(most, std::sqrt(metrics.sum_a2));
  }
  return most;
}

}  // namespace ttcheck::diff
