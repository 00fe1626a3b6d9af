// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statistics that dumps stored in place of values, against each other.

#include "core/model/limit.hpp"
#include "core/model/record.hpp"

namespace ttcheck::compare {

struct StatsError {
  double error = 0;         ///< of the statistic with the largest ratio
  double allowed = 0;       ///< its limit
  double ratio = 0;         ///< error / allowed; infinite for a zero limit
  bool non_finite = false;  ///< NaN against number, Inf against number, +Inf against -Inf
  bool alike = false;       ///< a statistic is NaN or infinite, the same on both sides
};

/// Norm and mean (over the rms) are held to the limit of the tensor, as neither can be further off
/// than the tensor is; smallest and largest value (over the largest magnitude), and the mean where
/// no norm was stored, to that of one element. Under a tolerance each is held to it as an element.
/// What one side did not store is not compared.
StatsError compare_stats(const StoredStats& reference, const StoredStats& candidate,
                         const Limit& limit);

}  // namespace ttcheck::compare
