#pragma once
// Two stored states: in which relation they are.

#include <span>
#include <string>

#include "core/limits/stored.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

/// Nothing differs: copies. `base`: the name of the ancestor that the ways begin at.
Relation relate(std::span<const Stored> states, const Cuts& cuts = {},
                const std::string& base = {});

/// Where it may matter for `relate` what an outlier is.
bool asks_outliers(std::span<const Stored> states, const Cuts& cuts = {});

}  // namespace ttcheck::limits
