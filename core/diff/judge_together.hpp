// SPDX-License-Identifier: Apache-2.0
#pragma once
// What only the results of a step together tell: what chance may have made of them, and masters
// that are too coarse.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// Makes noise of those results of this step, in causal order from its beginning on, that diverged
/// only by chance (core/noise); `context` gets what the records behind them need.
void excuse_by_chance(MetStep& met, std::span<TensorResult> results, DiffContext& context);

/// `results` are this step's, each judged by its limit, in causal order. Some of those that
/// diverged become noise (core/noise), and some that are noise diverged; `context` gets what the
/// next step has to know.
void judge_together(MetStep& met, std::span<TensorResult> results, DiffContext& context);

}  // namespace ttcheck::diff
