// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the candidate a multiple of the reference?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// candidate = k x reference, k by least squares: of the survey's sums where it was made, else of
/// those of pass 1, which are good for residuals of 1e-3. Of a single number only where k is the
/// size of a mesh axis or a whole number, or one over it. The words name what has the size k or
/// 1/k.
std::optional<Explanation> scale(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
