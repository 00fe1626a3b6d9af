// SPDX-License-Identifier: Apache-2.0
#pragma once
// Differences that come of updates whose gradient was noise (core/compare/unsettled), and what
// carries them on.

#include <memory>
#include <span>

#include "core/noise/excuser.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// Held to their limits without the elements set apart (rules `update`, `stands`, `added`). An
/// element's update may differ by twice the longest one of an Adam-like optimizer, from where it
/// stood; its `state` in later steps by what it differed by; what an op puts out, by what its bias
/// does. Remembers in `carried` what later steps need; where earlier steps were not compared, the
/// gradients of this one tell, of which `gradients` is asked ahead of their turn. Nothing is done
/// where limits are not the model's or measured, or the length of an update is not known
/// (core/noise/update_length). All must outlive it.
std::unique_ptr<Excuser> along_updates(const StepRecords& step, std::span<TensorResult> results,
                                       const Terms& terms, Excuser& gradients, Carried& carried);

}  // namespace ttcheck::noise
