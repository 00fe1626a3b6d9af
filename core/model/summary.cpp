// SPDX-License-Identifier: Apache-2.0
#include "core/model/summary.hpp"

#include <vector>

namespace ttcheck {

RunSummary summary_of(const Run& run) {
  RunSummary summary;
  summary.path = run.path;
  summary.format = run.format;
  summary.mesh = run.mesh;
  std::erase_if(summary.mesh.axes, [](const Axis& axis) { return axis.size <= 1; });
  std::erase_if(summary.mesh.expert_axes, [](const Axis& axis) { return axis.size <= 1; });
  for (const auto& step : run.steps) {
    if (step) summary.steps.push_back(*step);
  }
  return summary;
}

}  // namespace ttcheck
