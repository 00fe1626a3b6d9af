// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs of records whose bytes were not kept: dumps that hold hashes or statistics alone.

#include <cstdint>
#include <optional>

#include "core/diff/met.hpp"
#include "core/diff/not_compared.hpp"
#include "core/limits/limits.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// True where the whole tensor has one hash, and both sides the same.
bool same_hash(const Tensor& reference, const Tensor& candidate);

/// A side whose bytes were kept is taken as a dump without them would have recorded it. Equal where
/// every rank's hash is. Where hashes differ or are not there, by the statistics that
/// were stored (core/compare/stored_stats.hpp): rank by rank where both sides hold the same parts,
/// else of all ranks' parts together; statistics that agree are noise at best, and no equality.
/// Else the pair is among the `uncompared`. True when statistics are NaN or infinite, the same on
/// both sides. Ops that were paired in their order alone are left out (rule `order of ops`) where
/// norms of one side's parts do not make up the other's whole, or those of mere copies differ: they
/// may be other ops.
bool judge_unstored(const MetStep& met, std::size_t place, const Limit& limit,
                    Uncompared& uncompared, Verdict& verdict);

/// Judges a pair of which dumps left elements out by its stored statistics: where those that are
/// there do not differ, the statistics of all may.
void judge_left_out(const Tensor& reference, const Tensor& candidate, TensorResult& result);

/// So many tensors, this one first, have NaN or infinite statistics on both sides alike.
Finding alike_note(const Tensor& first, std::int64_t count, std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
