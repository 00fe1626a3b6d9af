// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a dims line means for one dimension: how it is cut, and its sizes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/assemble/cut.hpp"
#include "core/model/box.hpp"
#include "core/model/placement.hpp"

namespace ttcheck::assemble {

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

/// Whether no way of cutting is stated.
bool is_plain(const Shard& shard);

/// One dimension. Indices [0, length) are the logical ones, [length, stored) are padding.
struct DimPlan {
  std::vector<Shard> shards;        ///< outermost first; partial ones are not here
  std::vector<std::int64_t> parts;  ///< their logical lengths; empty: no parts
  std::int64_t length = 0;
  std::int64_t stored = 0;
  std::int64_t least = 0;  ///< below `length` where that is the longest that what is there allows
  /// Of a batch whose pieces follow no rule and are joined in order: where each lies within the
  /// one that it is cut from, by the coordinates along the shards up to its own, which is plain.
  /// Empty: by the rules that `spec`s state.
  std::map<Extents, Range> joined;
};

/// Whether it is the dimension of the batch: it is cut by micro-batches, in no stated way.
bool is_of_batch(const DimPlan& dim, const std::vector<AxisUse>& axes);

/// Indices that coordinates `at` hold of one dimension, in storage order; those from `dim.length`
/// on are padding. Throws Error when a mod does not fit.
Ranges ranges_at(const DimPlan& dim, const std::vector<AxisUse>& axes, const Extents& at);

}  // namespace ttcheck::assemble
