// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a step leaves its parameters apart.

#include <span>

#include "core/limits/limits.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::noise {

/// How far the step with these results leaves parameters apart, which it found as `before` says.
/// What diverged does not count, nor do elements of biases that were set apart: they are settled
/// where the bias is added.
limits::Apart apart_after(std::span<const TensorResult> results, const limits::Apart& before);

}  // namespace ttcheck::noise
