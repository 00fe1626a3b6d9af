// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters behind updates that are multiples of the gradient: what gradients differ by, within
// their limits, is in them.

#include <memory>
#include <span>

#include "core/noise/excuser.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Makes the excuser of parameters by the rule `multiple`, whose `finish` keeps in `carried` what
/// later steps need of this one. `results` are of the step, in causal order, and what it is shown
/// is one of them. All must outlive it.
std::unique_ptr<Excuser> along_multiples(const StepRecords& step,
                                         std::span<const TensorResult> results, Carried& carried);

}  // namespace ttcheck::noise
