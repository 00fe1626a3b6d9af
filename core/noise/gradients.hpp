// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradients that are zero but for round-off (core/noise/terms), and what is made of them.

#include <memory>

#include "core/noise/excuser.hpp"
#include "core/noise/step_records.hpp"
#include "core/noise/terms.hpp"

namespace ttcheck::noise {

/// Makes a result that diverged noise where both sides, or what one is beyond the other, are no
/// more than that. False where they are, or nothing tells.
bool excuse_by_terms(TensorResult& result, const RecordPair& pair, const Magnitude& roundoff);

/// Makes the excuser of gradients and moments of biases, by the rule `terms`; it may be asked ahead
/// of their turn. All must outlive it.
std::unique_ptr<Excuser> along_gradients(const StepRecords& step, const Terms& terms);

}  // namespace ttcheck::noise
