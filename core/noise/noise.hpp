#pragma once
// All that clean runs make of gradients that are zero but for round-off, in one step.

#include <optional>
#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Results of this step, in causal order, that diverged only by it become noise; `carried` gets
/// what later steps need. False where nothing had to be settled.
bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried);

/// How many results of a step are noise by a rule, and by which; nothing where none is.
std::optional<Finding> note_of(std::span<const TensorResult> results);

}  // namespace ttcheck::noise
