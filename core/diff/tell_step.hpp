// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a step comes to, once each of its results is what its limit and chance make of it.

#include <span>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// What is wrong though within its limit becomes diverged; then the first divergence and findings.
/// `results` are this step's, in the order in which a difference comes about.
void tell_step(const MetStep& met, std::span<TensorResult> results, DiffContext& context,
               Verdict& verdict);

}  // namespace ttcheck::diff
