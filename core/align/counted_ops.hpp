// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces that name an op by a counter (CountedOp): the tenth addition of one run is the eleventh of
// another that adds once more before it, so names alone would pair the wrong ones. A format opts in
// by setting `TraceRecord::counted.base`; `seq` must then count the records of a rank.

#include <cstddef>
#include <span>
#include <vector>

#include "core/align/alignment.hpp"

namespace ttcheck::align {

struct CountedPairs {
  std::vector<PairIndex> pairs;  ///< rule `same`, or `order of ops` where names differ
  /// The records that must not meet anything else: of ops that were paired those that the other
  /// side's op does not have, and ops of one name that are two.
  std::vector<std::size_t> only_reference, only_candidate;
};

/// Pairs ops in the order in which they ran: by name without counter, the module that ran them and
/// what they hold, dtypes and shapes included; between such pairs also ops that agree in name and
/// what they hold, and in name alone if they compute and run as often there on both sides: one of
/// another shape is a fault then. Then their records, by what of the op they are. `left` and
/// `right` are the tensors to look at; those without a base are passed over, and so are ops that
/// meet nothing.
CountedPairs pair_counted_ops(std::span<const Tensor> reference, std::span<const std::size_t> left,
                              std::span<const Tensor> candidate,
                              std::span<const std::size_t> right);

}  // namespace ttcheck::align
