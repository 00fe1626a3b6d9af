#pragma once
// Differences that come of updates whose gradient was noise (core/compare/unsettled), and what
// carries them on.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// Results that diverged only so become noise, held to their limits without the elements set apart
/// (rules `update`, `stands`, `added`). An element's update may differ by twice the longest one of
/// an Adam-like optimizer, from where it stood; its `state` in later steps by what it differed by;
/// what an op puts out, by what its bias does. Remembers in `carried` what later steps
/// need; where earlier steps were not compared, the gradients of this one tell. `results` are of
/// this step, in order. Nothing is done where limits are not the model's or measured, or the length
/// of an update is not known (core/noise/update_length). False where nothing had to be settled.
bool settle_updates(const StepRecords& step, std::span<TensorResult> results, const Terms& terms,
                    Carried& carried);

/// How far the step leaves its parameters apart, which it found as `before` says. What diverged
/// does not count, nor do elements of biases that were set apart: they are settled where the bias
/// is added.
limits::Apart apart_after(std::span<const TensorResult> results, const limits::Apart& before);

}  // namespace ttcheck::noise
