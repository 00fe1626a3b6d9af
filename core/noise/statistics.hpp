#pragma once
// Parameters of which dumps hold statistics alone, and no optimizer's call (msprobe's L0): what an
// update along a gradient that is zero but for round-off (core/noise/gradients) left apart.

#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// A bias that diverged in a later step becomes noise where its gradient in the step before was
/// noise on both sides, and its extremes, mean and norm are apart by no more than twice what so
/// many updates can have moved it: the most by which the reference's parameters' extremes moved in
/// the last one. So does what its op puts out, by no more than that beyond its limit. `results` are
/// of this step, in order. Nothing is done where limits are not the model's or measured, or the
/// step before is not known. False where nothing had to be settled.
bool settle_statistics(const StepRecords& step, std::span<TensorResult> results, const Terms& terms,
                       const Carried& carried);

}  // namespace ttcheck::noise
