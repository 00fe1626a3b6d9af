// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two stored states: in which relation they are.

#include <span>
#include <string>

#include "core/limits/stored.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

/// What an optimizer that divides a gradient by its own size says of its updates.
struct Updates {
  double rate = 0;   ///< about the longest that one moves a value; 0: not known
  double count = 0;  ///< of those that were made; 0: not known
};

/// Nothing differs: copies. `base`: the name of the ancestor that the ways begin at.
Relation relate(std::span<const Stored> states, const Cuts& cuts = {}, const std::string& base = {},
                const Updates& updates = {});

/// Whether what `relate` says of these states may depend on Stored::outlier.
bool asks_outliers(std::span<const Stored> states, const Cuts& cuts = {});

}  // namespace ttcheck::limits
