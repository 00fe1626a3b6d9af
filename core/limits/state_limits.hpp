// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each tensor of two stored states may differ by, as their relation has it.

#include <optional>
#include <span>
#include <vector>

#include "core/limits/stored.hpp"
#include "core/model/limit.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

/// Of what is equal, and of all that must be, where two states are copies.
Limit copy_limit();

/// For each, in their order; nothing of those that a map made between copies, which the model of
/// rounding tells.
std::vector<std::optional<Limit>> state_limits(std::span<const Stored> states,
                                               const Relation& relation, const Cuts& cuts = {});

}  // namespace ttcheck::limits
