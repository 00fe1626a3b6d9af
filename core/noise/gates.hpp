// SPDX-License-Identifier: Apache-2.0
#pragma once
// What gates of ReLU that are open on one side alone (core/compare/gated), and windows of a max
// pooling that another place won (core/compare/pooled), make of the gradients behind them.

#include <memory>
#include <span>

#include "core/noise/excuser.hpp"
#include "core/noise/passed_on.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Makes the excuser of gradients, and of what is made of them, by the rule `gates`. `results` are
/// of the step, in causal order, and what it is shown is one of them. `ask` may be empty; all must
/// outlive it.
std::unique_ptr<Excuser> along_gates(const StepRecords& step, std::span<const TensorResult> results,
                                     const Ask& ask);

}  // namespace ttcheck::noise
