// SPDX-License-Identifier: Apache-2.0
#pragma once
// A result that diverged by its limit and is found to be noise after all.

#include <string_view>

#include "core/model/verdict.hpp"

namespace ttcheck::noise {

/// Whether its limit is what round-off may do, and neither something that is wrong by itself nor a
/// number that is finite on one side alone decides: no chance excuses those, nor what a user asked
/// for.
bool is_held_to_roundoff(const TensorResult& result);

/// Whether chance may be all that it diverged by, and its metrics are of all elements.
bool is_open_to_noise(const TensorResult& result);

/// A parameter behind its update that is beyond what a row may have, though within the limit: where
/// noise made it so, the next update may carry it on beyond. Of what that may have, `part`
/// (new_part) is looked at: later updates repeat the rest.
bool may_go_on(const TensorResult& result, double part);

/// Makes it noise by a rule of core/noise/rules; what it was measured by stays as it is. REQUIRES
/// one that diverged.
void excuse(TensorResult& result, std::string_view rule, double amount);

}  // namespace ttcheck::noise
