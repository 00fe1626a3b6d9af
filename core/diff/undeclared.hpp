// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of which no dims line says how ranks hold them (core/assemble/undeclared): what is tried,
// and what is said of it.

#include <cstdint>
#include <optional>

#include "core/assemble/data_parallel.hpp"
#include "core/diff/work.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::diff {

/// Ranks that hold an undeclared tensor of the pair whole may hold addends of it, and of a fused
/// one that its shape placed, a range of each part. Adds these ways for the next of `work.pairs`.
void add_ways(const compare::Pair& pair, const Mesh& reference, const Mesh& candidate, Work& work);

/// So many tensors were compared without what ranks hold that one side alone has.
Finding lost_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors are not compared: ranks are missing, and no other side tells what of them.
Finding untold_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors were compared rank by rank.
Finding by_rank_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors were placed by the shapes that the other side has.
Finding placed_note(std::int64_t count, std::optional<std::int64_t> step);

/// Tensors were taken as what data parallelism comes to.
Finding data_parallel_note(const assemble::DataParallel& made, std::optional<std::int64_t> step);

/// So many tensors were placed along the axis that values tell.
Finding cut_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors were placed part by part, as values tell.
Finding parts_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors are not compared: ranks recorded different hashes of what may be addends.
Finding unlike_note(std::int64_t count, std::optional<std::int64_t> step);

/// So many tensors come near the other side in the sum of what ranks hold, and in no rank's own
/// values. A warning: that the ranks were to add them up is a guess.
Finding addends_note(std::int64_t count, std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
