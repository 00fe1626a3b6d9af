// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two checkpoints' step as two stored states: their relation, and what it lets each tensor differ
// by.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/context.hpp"
#include "core/diff/work.hpp"
#include "core/model/limit.hpp"
#include "core/model/relation.hpp"
#include "core/model/step.hpp"

namespace ttcheck::diff {

/// The relation of two states, and the limit and distance of each tensor; where all are equal
/// nothing is kept of each.
struct States {
  Relation relation;
  Limit equal;                                       ///< of each, where all are equal
  std::vector<std::shared_ptr<const Limit>> limits;  ///< by pair of the work; null: the model's
  std::vector<std::optional<Moved>> moved;           ///< of those that differ and could be read
  /// Of those whose elements were looked at, by pair, ascending.
  std::vector<std::pair<std::size_t, Detail>> details;

  /// Null: the model's.
  const Limit* limit_of(std::size_t pair) const;
  std::optional<Moved> moved_of(std::size_t pair) const;
  std::optional<Detail> detail_of(std::size_t pair) const;
};

/// REQUIRES two checkpoints. Of `work` as it was compared, and of `beside`, whose tensors tell as
/// much as a sample of them does; where something differs, beside the ancestor that the user named
/// or, where that leaves it open, the step before. What cannot be read tells nothing. Throws Error
/// for an ancestor that is none.
States relate_states(const Work& work, std::span<const compare::Compared> compared,
                     const Work& beside, const StepPair& steps, const DiffContext& context);

}  // namespace ttcheck::diff
