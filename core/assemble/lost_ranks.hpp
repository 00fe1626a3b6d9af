// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks of which one side alone has something: a dump whose rank was lost is compared with the
// other side's same ranks, not with all of them.

#include <cstdint>

#include "core/model/run.hpp"

namespace ttcheck::assemble {

/// What became of undeclared tensors (Record::undeclared) of which a rank is lost on one side.
struct Lost {
  std::int64_t met = 0;       ///< of which the ranks that both sides have are compared
  std::int64_t left_out = 0;  ///< of which no rank's part can be told
};

/// Takes undeclared records of ranks that the other side lost out of `a` and `b`. The ranks of a
/// side are those that it has, those that it lacks (State::missing_ranks, unreadable_ranks), and
/// the other side's where it has fewer, undeclared, and holds what the same ranks hold there, in
/// the same shapes: the others are then missing_ranks. Where a side has lost
/// ranks and the other is not of the same ranks, its undeclared records are no longer compared:
/// what of a tensor they are cannot be told.
Lost meet_lost_ranks(State& a, State& b);

}  // namespace ttcheck::assemble
