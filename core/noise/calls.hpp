// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradients that are zero but for round-off (core/noise/gradients) in dumps of ops: nothing there
// names the parameter that an optimizer's call is of. A parameter's bias comes behind its weight,
// so the call before, of the same op, had the weight's. The next step finds what the calls left.

#include <memory>

#include "core/noise/excuser.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// `Tensor.lerp_.forward` of ops that are counted, and not `Tensor.__add__.forward`.
bool is_call_in_place(const Tensor& tensor);

/// Makes the excuser of ops named by a counter. Of calls in place (`Tensor.lerp_`) inputs of one
/// dimension become noise where they are by the terms of what went into the call before: the same
/// input of the same op, whose first dimension is as long. So does what is made of them alone:
/// inputs of later calls that hold the same on both sides, and outputs of calls into which nothing
/// else went that diverged. The output of an update into which nothing went that diverged may
/// differ by what it is long (`addcdiv_`), or by two limits (`addcmul_`, a square): recomputing
/// tells whether its op is right. Nothing is done where limits are not the model's or measured. All
/// must outlive it.
std::unique_ptr<Excuser> along_calls(const StepRecords& step, const Terms& terms,
                                     const Carried& carried);

}  // namespace ttcheck::noise
