#pragma once
// How far apart two stored states have a tensor.

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// From at most 32 x 512 elements, evenly over the tensor; places that are not finite on both sides
/// are left out. Where one side's store is finer, its values are first rounded as the other's were.
/// REQUIRES has_real_values(pair). Throws Error, Stopped.
Moved moved(const Pair& pair, const Stop& stop = {});

}  // namespace ttcheck::compare
