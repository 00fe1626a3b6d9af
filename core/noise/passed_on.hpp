#pragma once
// What elements that were set apart (core/noise/updates) make of the records behind them: an update
// that took another way by chance is felt by every op that its parameter goes into.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::noise {

/// By so many limits at most does what earlier steps left apart put a result beyond its own.
inline constexpr double kLittle = 16;

/// Whether behind a step that left parameters apart by chance any result may be noise by its op.
bool may_be_passed_on(std::span<const TensorResult> results, const Carried& carried);

/// Such diverged results become noise where their op, recomputed from its own inputs, is right, and
/// nothing that went into it diverged. `results` are of one step of two
/// traces, in causal order, `recomputed` has one for each.
void settle_passed_on(std::span<TensorResult> results,
                      std::span<const recompute::Recomputed> recomputed, const Carried& carried);

}  // namespace ttcheck::noise
