// SPDX-License-Identifier: Apache-2.0
#pragma once
// Updates that two correct runs need not agree on. Where a gradient is zero but for round-off (a
// bias in front of a softmax that does not see it, a scale that nothing uses), its sign is chance,
// and an optimizer that divides by the gradient's own size steps with full length either way.

#include <cstdint>
#include <map>
#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"

namespace ttcheck::compare {

/// b - a of elements that were set apart, by their logical index.
using SetApart = std::map<std::int64_t, double>;

/// An element is set apart when it is beyond `outlier` by itself and no further apart than its
/// gradients may have made it: `step` x |ga-gb| / max(|ga|, |gb|) (at most 1) where their
/// difference is noise, plus half a unit in the last place of each, as stored. An update is m /
/// sqrt(v), so that is the most by which a difference of the last gradient shows in it, and what a
/// difference of m does where that is given for the gradient. What the gradients of the step before
/// make of m and v adds to it, where they are given. Gradients
/// that are the same to the bit make no difference. One that stood apart before may go on from
/// there by `step`, whatever its gradients (its moments still differ), also within `outlier`.
struct NoiseRule {
  double outlier = 0;                ///< of |b-a| / max(|a|, rms of A)
  double gradient = 0;               ///< noise of it is at most this
  double step = 0;                   ///< twice the longest update
  const SetApart* before = nullptr;  ///< what stood apart before this update; null: nothing
  double zero = 0;    ///< a gradient that is noise altogether is at most this; 0: none is
  double wander = 0;  ///< how far updates along such a gradient may have gone in all steps,
                      ///< whatever the gradient is now
  double size = 0;    ///< rms of A where it is known; 0: it is read
  const Pair* earlier = nullptr;  ///< gradients of the step before, of noise alone; null: not known
};

/// A parameter's difference, less the elements that were set apart.
struct Unsettled {
  SetApart apart;
  double rel = 0;      ///< ||B - A|| of the others / ||A|| of all
  double outlier = 0;  ///< of the others
};

/// Nothing where the shapes of parameter and gradient are not the same, a dtype is complex, a side
/// has holes, or more than kMostApart elements would be set apart. Without a gradient only what
/// stood apart before may be. Reads each side once and the references twice. Throws Error, Stopped.
std::optional<Unsettled> unsettled(const Pair& parameter, const Pair* gradient,
                                   const NoiseRule& rule, const Stop& stop = {});

inline constexpr std::size_t kMostApart = 1 << 16;

/// The output of an op, less what its bias differs by: that is added along the last dim or, where
/// only that is as long (images), along the one behind the batch. Where
/// updates that nobody recorded may have moved the bias on, by up to `reach`, each channel's mean
/// difference tells how far. `size_of_a`: as NoiseRule's. Nothing where shapes do not fit, as
/// above.
std::optional<Unsettled> less_bias(const Pair& output, const SetApart& bias,
                                   std::int64_t bias_count, double reach = 0, double size_of_a = 0,
                                   const Stop& stop = {});

}  // namespace ttcheck::compare
