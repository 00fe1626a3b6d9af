// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart two states are beside how far they came from a common ancestor.

#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::compare {

/// Measures the ways of both sides from `base` by the elements of core/compare/sampled.hpp; places
/// that are not finite on all three are left out. Nothing where neither side left the ancestor.
/// REQUIRES has_real_values(pair), and the same of `base`, of the pair's shape. Throws Error,
/// Stopped.
std::optional<WaySince> way(const Pair& pair, const Tensor& base, const Stop& stop = {});

}  // namespace ttcheck::compare
