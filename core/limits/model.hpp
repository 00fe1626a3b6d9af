// SPDX-License-Identifier: Apache-2.0
#pragma once
// The built-in limit model: how far two correct runs of one model may be apart when nothing was
// measured. ttcheck-limits.7 tells it to users.

#include "core/limits/context.hpp"
#include "core/model/limit.hpp"

namespace ttcheck::limits {

inline constexpr double kRowFactor = 6;       ///< a worst row's limit, in limits of the tensor
inline constexpr double kOutlierFactor = 16;  ///< an element's

/// How much more than others a tensor of this kind may differ (k of the model).
double kind_factor(const Tensor& tensor);

/// Adds what follows from parameters that earlier steps left apart: of what is noise at most as
/// much as the limit is, and nothing to parameters; of what is chance five times as much.
void widen_by_apart(Limit& limit, const Tensor& reference, const Apart& apart);

/// What one op's round-off comes to, relative to its terms: c eps, the model at depth 1.
double op_roundoff(const LimitContext& context);

/// The limit of one tensor under the model, with its words.
Limit model_limit(const Tensor& reference, const LimitContext& context);

}  // namespace ttcheck::limits
