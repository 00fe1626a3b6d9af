#pragma once
// Updates that two correct runs need not agree on. Where a gradient is zero but for round-off (a
// bias in front of a softmax that does not see it, a scale that nothing uses), its sign is chance,
// and an optimizer that divides by the gradient's own size steps with full length either way.

#include <cstdint>
#include <optional>

#include "core/compare/compare.hpp"

namespace ttcheck::compare {

/// Of an element whose gradient is noise.
struct NoiseRule {
  double gradient = 0;  ///< both |g| are at most this x the rms of the reference's gradient
  double step = 0;      ///< the largest |b-a| that the update may leave
};

/// A parameter's difference, its elements with noise for a gradient set apart.
struct Unsettled {
  std::int64_t set_apart = 0;  ///< of them, beyond the rest's limit and within `step`
  double largest = 0;          ///< |b-a| among these
  double rel = 0;              ///< ||B - A|| of the others / ||A|| of all
  double outlier = 0;          ///< of the others: largest |b-a| / max(|a|, rms of A)
};

/// An element is set apart when it is beyond `limit` (an outlier's) by itself. Nothing where the
/// shapes of parameter and gradient are not the same, a dtype is complex, or a side has holes.
/// Reads each side of both tensors once, and the reference's twice. Throws Error and Stopped.
std::optional<Unsettled> unsettled(const Pair& parameter, const Pair& gradient,
                                   const NoiseRule& rule, double limit, const Stop& stop = {});

}  // namespace ttcheck::compare
