// SPDX-License-Identifier: Apache-2.0
#pragma once
// An op put to the test by itself: recomputed in double from what the candidate dumped of its own
// inputs, whatever went wrong before it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "core/recompute/graph.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::recompute {

/// Recomputes records of one step. The formula must reproduce the reference's own record from the
/// reference's own inputs, else it is not what this op computes and nothing is said. Where the
/// sides state other attributes, the reference's count: they are what the candidate should have
/// computed.
///
/// Limits (ttcheck-limits.7): rel <= c eps, with eps of the coarsest dtype that the call has; types
/// of 16 bits and less accumulate in something wider: c = 3 + the op's roundings; wider ones:
/// c = (4 + sqrt(K)) x roundings, K additions behind one element. A row may have 2 x that, an
/// element 4 x.
///
/// These are bounds for any way to compute the op. How far rounding really takes it, the
/// reference's own record tells: in clean traces (one device against TP, SP, PP, CP, EP, DP, fused
/// kernels; fp32, bf16 and fp16) the candidate's came to at most 0.21 of its limit and 3.3 x the
/// reference's. So a record is wrong, too, from 0.4 of the limit on if that is more than 8 x the
/// reference's. Elements that held_by_size() are right to 4 x the limit of their own size, where
/// the reference's are.
class Recompute {
 public:
  /// The graphs must outlive it. `stop` may be empty. With a budget (multiplications and elements
  /// read, of all records) what is beyond it is not begun.
  Recompute(const Graph& reference, const Graph& candidate, std::function<bool()> stop,
            std::optional<double> budget = {});

  /// `worst`: the element of the pair that differs most, or -1. Work is bounded for each record and
  /// for all together; what is beyond is `unknown`, as is what cannot be read; the reason is
  /// given as far as it is of the dump.
  Recomputed judge(const Tensor& reference, const Tensor& candidate, std::int64_t worst);

 private:
  const Graph& reference_;
  const Graph& candidate_;
  std::function<bool()> stop_;
  double budget_;                        ///< multiplications that are left
  bool strict_;                          ///< nothing beyond the budget
  std::map<const Tensor*, bool> apart_;  ///< tensors whose copies were compared: they differ
};

/// Whether elements of this record are held to their own sizes: an output of 16 bits or less, of an
/// op that adds nothing up. What is far off for a small element may be little among the others.
bool held_by_size(const Tensor& record);

/// The least relative error by which an output of this type is clearly wrong, whatever its op.
double least_clear(DType output);

}  // namespace ttcheck::recompute
