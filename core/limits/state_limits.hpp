// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each tensor of two stored states may differ by, as their relation has it.

#include <memory>
#include <span>
#include <vector>

#include "core/limits/stored.hpp"
#include "core/model/limit.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

/// The limit, where two states are copies, of what is equal and of all that must be.
Limit copy_limit();

/// The limits of `states`, in their order, one object for those of a copy; null for those that a
/// map made between copies, whose limit the model of rounding tells.
std::vector<std::shared_ptr<const Limit>> state_limits(std::span<const Stored> states,
                                                       const Relation& relation,
                                                       const Cuts& cuts = {});

}  // namespace ttcheck::limits
