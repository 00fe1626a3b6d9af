// SPDX-License-Identifier: Apache-2.0
#pragma once
// A placement with the sizes filled in: what one tensor's dims line means on this mesh, for the
// shapes that the ranks really hold.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/assemble/calls.hpp"
#include "core/assemble/dim_plan.hpp"
#include "core/assemble/stages.hpp"
#include "core/model/box.hpp"
#include "core/model/layout.hpp"
#include "core/model/mesh.hpp"
#include "core/model/placement.hpp"
#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// What the records of one step share.
struct AssembleContext {
  const Mesh& mesh;
  const Numbers& numbers;  ///< sizes that dims may name
  const Stages& stages;
  std::int64_t microbatches = 1;  ///< extent of the axis `mb`
  std::optional<std::int64_t> step;
  std::span<const std::int32_t> silent;  ///< ranks that write nothing, by design; ascending
  const Calls* calls = nullptr;          ///< nullptr: what is not there may be lost
};

struct Plan {
  std::vector<AxisUse> axes;  ///< of sharded dimensions first, then those reduced over
  std::vector<DimPlan> dims;  ///< of the logical tensor
  std::vector<Shard> flat;    ///< of `flat[...]`
  bool flattened = false;
  std::optional<std::int64_t> flat_align;
  std::vector<std::size_t> flat_group;          ///< axes that cut the parts that lie flattened
  std::map<Extents, std::int64_t> flat_totals;  ///< elements held, by coordinates along flat_group
  bool stated = false;               ///< the logical shape was written down, so padding may follow
  Reduce reduce = Reduce::none;      ///< avg, too, where some axes are averaged and others summed
  std::int64_t mean_of = 1;          ///< extents of the axes that are averaged, multiplied
  std::vector<std::size_t> reduced;  ///< axes that are reduced over
  Shape shape;                       ///< logical
  Shape least;                       ///< what is there of a shape that is a guess; else `shape`
};

/// One rank's record with its coordinates along `Plan::axes`.
struct Member {
  const Record* record = nullptr;
  Extents at;
};

/// The plan of a tensor from its records (lowest rank first, all of one placement); fills each
/// member's `at`. Throws Error when the line cannot be meant for these shapes.
Plan make_plan(const Placement& placement, std::vector<Member>& members,
               const AssembleContext& context);

}  // namespace ttcheck::assemble
