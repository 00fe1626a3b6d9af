// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/dim_plan.hpp"

#include <iterator>

#include "core/base/error.hpp"

namespace ttcheck::assemble {

Ranges ranges_at(const DimPlan& dim, const std::vector<AxisUse>& axes, const Extents& at) {
  std::vector<Ranges> bases;
  const std::int64_t padding = dim.stored - dim.length;
  if (dim.parts.empty()) {
    bases.emplace_back();
    append(bases.back(), {0, dim.stored});
  } else {
    const std::int64_t count = std::ssize(dim.parts);
    if (padding % count != 0) throw Error("padding does not divide among the parts");
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t end = begin + dim.parts[static_cast<std::size_t>(i)];
      const std::int64_t beyond = dim.length + i * (padding / count);
      bases.emplace_back();
      append(bases.back(), {begin, end});
      append(bases.back(), {beyond, beyond + padding / count});
      begin = end;
    }
  }
  Ranges held;
  for (Ranges& ranges : bases) {
    Extents outer;
    for (const Shard& shard : dim.shards) {
      const AxisUse& axis = axes[shard.axis];
      const auto joined = dim.joined.find(outer);
      if (axis.name == "mb" && joined != dim.joined.end()) {
        ShardSpec sizes;
        sizes.sizes = joined->second;
        ranges = cut(ranges, sizes, axis.n, at[shard.axis]);
      } else {
        ranges = cut(ranges, shard.spec, axis.n, at[shard.axis]);
      }
      outer.push_back(at[shard.axis]);
    }
    for (const Range& range : ranges) append(held, range);
  }
  return held;
}

}  // namespace ttcheck::assemble
