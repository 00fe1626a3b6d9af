#pragma once
// All that clean runs make of gradients that are zero but for round-off, in one step.

#include <span>
#include <vector>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Results of this step, in causal order, that diverged only by it become noise; `notes` gets what
/// there is to say of them, `carried` what later steps need. False where nothing had to be settled.
bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried,
            std::vector<Finding>& notes);

}  // namespace ttcheck::noise
