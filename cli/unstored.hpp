#pragma once
// Pairs of records whose bytes were not kept: dumps that hold hashes or statistics alone.

#include <cstdint>
#include <optional>

#include "core/limits/limits.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// True where the whole tensor has one hash, and both sides the same.
bool same_hash(const Tensor& reference, const Tensor& candidate);

/// Equal where every rank's hash is. Where hashes differ or are not there, by the stored smallest
/// and largest value and norm, of all ranks' parts together, and the counts of NaN and Inf: noise
/// where the norm is within the limit of the whole tensor and the others within that of one
/// element. Else it is said that the pair could not be checked.
void judge_unstored(const Tensor& reference, const Tensor& candidate, const Limit& limit,
                    std::optional<std::int64_t> step, Verdict& verdict);

/// Of a pair of which dumps left elements out: where those that are there do not differ, stored
/// statistics of all may.
void judge_left_out(const Tensor& reference, const Tensor& candidate, TensorResult& result);

}  // namespace ttcheck::cli
