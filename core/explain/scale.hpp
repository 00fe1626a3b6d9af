#pragma once
// Is the candidate a multiple of the reference?

#include <optional>

#include "core/model/finding.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::explain {

/// candidate = k x reference, k by least squares from the sums of pass 1; offered when the residual
/// |B - kA| / |B| is at most `noise` and k is not 1 within it. Needs at least two elements.
std::optional<Hypothesis> scale(const Metrics& metrics, double noise);

}  // namespace ttcheck::explain
