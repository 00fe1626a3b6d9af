// SPDX-License-Identifier: Apache-2.0
#pragma once
// Norms of gradients that the candidate logged, held to its own gradients (TT204).

#include <optional>
#include <span>
#include <vector>

#include "core/diff/met.hpp"
#include "core/locate/gradient_norm.hpp"

namespace ttcheck::diff {

/// A logged norm of a step's records against the gradients; nothing where it cannot be told.
/// `results` are of one step.
std::optional<locate::GradientNorm> checked_norm(const MetStep& met,
                                                 std::span<const TensorResult> results,
                                                 const locate::LoggedNorm& logged);

/// An error where a step logs a norm beside its records (`grad_norm` of events.jsonl) that is not
/// the norm of its gradients; of norms that are a record, its result says it.
std::vector<Finding> wrong_logged_norm(const MetStep& met, std::span<const TensorResult> results);

}  // namespace ttcheck::diff
