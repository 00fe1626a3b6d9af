#pragma once
// How far apart two stored states have a tensor.

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// From the elements of core/compare/sampled.hpp; places that are not finite on both sides are left
/// out.
/// REQUIRES has_real_values(pair). Throws Error, Stopped.
Moved moved(const Pair& pair, const Stop& stop = {});

}  // namespace ttcheck::compare
