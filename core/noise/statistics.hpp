// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of which dumps hold statistics alone, and no optimizer's call (msprobe's L0): what an
// update along a gradient that is zero but for round-off (core/noise/gradients) left apart.

#include <memory>

#include "core/noise/excuser.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// A bias that diverged in a later step becomes noise where its gradient in the step before was
/// noise on both sides, and its extremes, mean and norm are apart by no more than twice what so
/// many updates can have moved it: the most by which the reference's parameters' extremes moved in
/// the last one. So does what its op puts out, by no more than that beyond its limit. Nothing is
/// done where limits are not the model's or measured, or the step before is not known. All must
/// outlive it.
std::unique_ptr<Excuser> along_statistics(const StepRecords& step, const Terms& terms,
                                          const Carried& carried);

}  // namespace ttcheck::noise
