// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes a step good or bad, by what a comparison found in it.

#include <cstdint>

#include "core/bisect/search.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::bisect {

/// What makes a step bad.
enum class Predicate : std::uint8_t { diverged, non_finite, replicas_differ };

/// The mark of a step by the whole comparison of it. `skip` where that says neither: not
/// comparable, and nothing bad seen.
Mark mark_of(const Verdict& verdict, Predicate predicate);

}  // namespace ttcheck::bisect
