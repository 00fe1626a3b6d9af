// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two states that training moved apart: one sentence for all that moved alike, and a finding for
// each tensor that did otherwise.

#include <cstddef>
#include <span>
#include <vector>

#include "core/diff/context.hpp"
#include "core/diff/met.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// Differs as training moves, and as its siblings do.
bool moved_along(const TensorResult& result);

/// Takes out of `diverged`, places of results, those that moved as their siblings did, but for the
/// first of a few families, which may have a cause that explains all of them. Gives their places.
std::vector<std::size_t> set_apart(std::span<const TensorResult> results,
                                   std::vector<std::size_t>& diverged);

/// TT613 for those that differ otherwise than their siblings where these are apart, too, the
/// furthest first. Both lists are put into another order.
void name_odd(std::span<const TensorResult> results, std::vector<std::size_t>& diverged,
              std::vector<Finding>& findings);

/// TT612 in front, unless what stands for its family was explained; findings of those that were
/// not are dropped.
void tell_apart(const MetStep& met, std::span<const TensorResult> results,
                std::span<const std::size_t> moved, std::vector<std::size_t>& diverged,
                std::vector<Finding>& findings, const DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::diff
