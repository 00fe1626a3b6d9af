// SPDX-License-Identifier: Apache-2.0
#pragma once
// Embeddings and output layers with more rows than the configuration has words: a conversion that
// did not cut off what was padded for tensor parallelism.

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "core/align/align.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Trims each pair whose shapes differ in the first dimension alone, where one side has as many
/// rows as a configuration states `words` and the other more than any, no multiple of them, or a
/// matrix where all that is beyond the smaller's rows is zeros: says so (TT307, and TT303 which
/// rows), and leaves the larger one with the rows that both have, so that these are compared.
void trim_vocabulary(std::span<Tensor> reference, std::span<Tensor> candidate,
                     std::span<const align::PairIndex> pairs, std::span<const char> evidence,
                     const std::set<std::int64_t>& words, std::optional<std::int64_t> step,
                     Verdict& verdict);

}  // namespace ttcheck::diff
