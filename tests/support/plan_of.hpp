// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans of one tensor as `make_plan` fills them, from a line and the lengths that it would find.

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/assemble/plan.hpp"

namespace ttcheck::tests {

/// The shards of `specs` over `axes`, which have them all.
inline std::vector<assemble::Shard> shards_of(const std::vector<ShardSpec>& specs,
                                              const std::vector<assemble::AxisUse>& axes) {
  std::vector<assemble::Shard> shards;
  for (const ShardSpec& spec : specs) {
    const auto at = std::ranges::find(axes, spec.axis, &assemble::AxisUse::name);
    shards.push_back({static_cast<std::size_t>(at - axes.begin()), spec});
  }
  return shards;
}

/// A tensor of shape `logical` that is cut as `stored`, by `line` without `*`. Parts are equal.
inline assemble::Plan plan_of(std::vector<assemble::AxisUse> axes, std::string_view line,
                              const Shape& logical, const Shape& stored) {
  const Placement placement = parse_dims(line);
  assemble::Plan plan;
  plan.flattened = placement.flat;
  plan.flat = shards_of(placement.flat_shards, axes);
  for (std::size_t d = 0; d < logical.size(); ++d) {
    assemble::DimPlan& dim = plan.dims.emplace_back();
    dim.length = dim.least = logical[d];
    dim.stored = stored[d];
    if (d >= placement.dims.size()) continue;  // `flat[...]` without dims
    dim.shards = shards_of(placement.dims[d].shards, axes);
    const std::size_t parts = placement.dims[d].parts.size();
    if (parts > 0) dim.parts.assign(parts, logical[d] / static_cast<std::int64_t>(parts));
  }
  plan.axes = std::move(axes);
  plan.shape = plan.least = logical;
  return plan;
}

inline assemble::Plan plan_of(std::vector<assemble::AxisUse> axes, std::string_view line,
                              const Shape& logical) {
  return plan_of(std::move(axes), line, logical, logical);
}

}  // namespace ttcheck::tests
