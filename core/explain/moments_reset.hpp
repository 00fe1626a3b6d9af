// SPDX-License-Identifier: Apache-2.0
#pragma once
// Were the optimizer's moments lost?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// A moment of which the candidate holds zeros alone, and the reference does not.
std::optional<Explanation> moments_reset(const Subject& subject);

}  // namespace ttcheck::explain
