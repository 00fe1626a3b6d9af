// SPDX-License-Identifier: Apache-2.0
#pragma once
// What elements that were set apart (core/noise/updates) make of the records behind them: an update
// that took another way by chance is felt by every op that its parameter goes into.

#include <functional>
#include <memory>
#include <span>

#include "core/noise/excuser.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::noise {

/// The most limits by which what earlier steps left apart puts a result beyond its own.
inline constexpr double kLittle = 16;

/// What came of recomputing a result's op, its inputs by the names that results have.
using Ask = std::function<recompute::Recomputed(const TensorResult&)>;

/// Makes the excuser of results whose op, recomputed from its own inputs, is right, and into which
/// nothing went that diverged, where parameters stand apart by chance. `results` are of one step.
/// All must outlive it.
std::unique_ptr<Excuser> along_ops(std::span<const TensorResult> results, const Carried& carried,
                                   const Ask& ask);

}  // namespace ttcheck::noise
