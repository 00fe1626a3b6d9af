// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two correct runs may make differ beyond what rounding does to values: one walk along the
// records of a step, in causal order. A record that is beyond its limit is shown to each rule of
// the table (core/noise/rules) in turn; the one that explains it, by what both sides hold, gives it
// an allowance beside its limit. What a rule learns of a record counts for those behind it.
//
//   terms       core/noise/gradients    gradients that are zero but for round-off
//   made        core/noise/calls        what an optimizer's calls make of such a gradient
//   stands      core/noise/statistics   of parameters whose values were not kept
//   update ...  core/noise/updates      steps along such gradients, and what they leave apart
//   passed-on   core/noise/passed_on    what is computed with what stands apart

#include <optional>
#include <span>

#include "core/model/verdict.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/passed_on.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// `results` are of this step, in causal order; `carried` gets what later steps need. `ask`: what
/// comes of an op recomputed; empty: nobody can tell. False where no result has an allowance.
bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried,
            const Ask& ask = {});

/// How many results of a step are noise by a rule, and by which; nothing where none is.
std::optional<Finding> note_of(std::span<const TensorResult> results);

}  // namespace ttcheck::noise
