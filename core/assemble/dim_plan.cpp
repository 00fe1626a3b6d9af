// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/dim_plan.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"

namespace ttcheck::assemble {

bool is_plain(const Shard& shard) {
  ShardSpec plain;
  plain.axis = shard.spec.axis;
  return shard.spec == plain;
}

bool is_of_batch(const DimPlan& dim, const std::vector<AxisUse>& axes) {
  return dim.parts.empty() && std::ranges::any_of(dim.shards, [&](const Shard& shard) {
           return axes[shard.axis].name == "mb" && is_plain(shard);
         });
}

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
    Extents to_here;
    for (const Shard& shard : dim.shards) {
      to_here.push_back(at[shard.axis]);
      if (dim.joined.empty() || !is_plain(shard)) {
        ranges = cut(ranges, shard.spec, axes[shard.axis].n, at[shard.axis]);
      } else {
        const auto joined = dim.joined.find(to_here);
        ranges = joined == dim.joined.end() ? Ranges() : select(ranges, {joined->second});
      }
    }
    for (const Range& range : ranges) append(held, range);
  }
  return held;
}

}  // namespace ttcheck::assemble
