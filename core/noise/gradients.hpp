#pragma once
// Gradients that are zero but for round-off (core/noise/terms), and what is made of them.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// Makes a result that diverged noise where both sides, or what one is beyond the other, are no
/// more than that. False where they are, or nothing tells.
bool excuse_by_terms(TensorResult& result, const RecordPair& pair, const Magnitude& roundoff);

/// Gradients and moments of biases that diverged become noise by the rule `terms`. `results` are of
/// this step. Nothing is done where limits are not the model's or measured. False where nothing had
/// to be settled.
bool settle_gradients(const StepRecords& step, std::span<TensorResult> results, const Terms& terms);

}  // namespace ttcheck::noise
