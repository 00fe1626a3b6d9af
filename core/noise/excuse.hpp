#pragma once
// A result that diverged by its limit and is found to be noise after all.

#include <string_view>

#include "core/model/verdict.hpp"

namespace ttcheck::noise {

/// Whether chance may be all that it diverged by: it is held to a limit that somebody could not
/// set closer, and neither a replica nor a number that was lost decides.
bool is_open_to_noise(const TensorResult& result);

/// Makes it noise by a rule of core/noise/rules; its error, ratio and limit stay as they are.
/// REQUIRES one that diverged.
void excuse(TensorResult& result, std::string_view rule, double amount);

}  // namespace ttcheck::noise
