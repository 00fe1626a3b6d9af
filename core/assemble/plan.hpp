#pragma once
// A placement with the sizes filled in: what one tensor's dims line means on this mesh, for the
// shapes that the ranks really hold.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/assemble/cut.hpp"
#include "core/assemble/stages.hpp"
#include "core/model/box.hpp"
#include "core/model/layout.hpp"
#include "core/model/mesh.hpp"
#include "core/model/placement.hpp"
#include "core/model/record.hpp"

namespace ttcheck::assemble {

/// What the records of one step share.
struct Context {
  const Mesh& mesh;
  const Numbers& numbers;  ///< sizes that dims may name
  const Stages& stages;
  std::int64_t microbatches = 1;  ///< extent of the axis `mb`
  std::optional<std::int64_t> step;
  std::span<const std::int32_t> silent;  ///< ranks that write nothing, by design; ascending
};

/// A mesh axis that the line names.
struct AxisUse {
  std::string name;
  std::int64_t n = 1;
};

/// One `axis:mod`, by index of its axis.
struct Shard {
  std::size_t axis = 0;
  ShardSpec spec;
};

/// One dimension. Indices [0, length) are the logical ones, [length, stored) are padding.
struct DimPlan {
  std::vector<Shard> shards;        ///< outermost first; partial ones are not here
  std::vector<std::int64_t> parts;  ///< their logical lengths; empty: no parts
  std::int64_t length = 0;
  std::int64_t stored = 0;
  std::int64_t least = 0;  ///< below `length` where that is the longest that what is there allows
  /// Lengths of micro-batches that are joined in order, by the coordinates along the shards before
  /// `mb`; empty: by the rule that `spec` states.
  std::map<Extents, std::vector<std::int64_t>> joined;
};

struct Plan {
  std::vector<AxisUse> axes;  ///< of sharded dimensions first, then those reduced over
  std::vector<DimPlan> dims;  ///< of the logical tensor
  std::vector<Shard> flat;    ///< of `flat[...]`
  bool flattened = false;
  std::optional<std::int64_t> flat_align;
  std::vector<std::size_t> flat_group;          ///< axes that cut the parts that lie flattened
  std::map<Extents, std::int64_t> flat_totals;  ///< elements held, by coordinates along flat_group
  bool stated = false;  ///< the logical shape was written down, so padding may follow
  Reduce reduce = Reduce::none;
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
Plan make_plan(const Placement& placement, std::vector<Member>& members, const Context& context);

/// Indices that coordinates `at` hold of one dimension, in storage order; those from `dim.length`
/// on are padding. Throws Error when a mod does not fit.
Ranges ranges_at(const DimPlan& dim, const std::vector<AxisUse>& axes, const Extents& at);

}  // namespace ttcheck::assemble
