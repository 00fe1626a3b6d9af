#pragma once
// A result that diverged by its limit and is found to be noise after all.

#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Counts it so; its error, ratio and limit stay as they are. REQUIRES one that diverged.
void count_as_noise(TensorResult& result, Verdict& verdict);

}  // namespace ttcheck::cli
