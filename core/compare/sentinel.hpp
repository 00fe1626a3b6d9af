// SPDX-License-Identifier: Apache-2.0
#pragma once
// One value that most of a tensor's norm is made of and that stands for something else: the least
// number that a mask added, the fill of an absent measurement. Held to a limit that is relative to
// such a norm, all other elements could be anything.

#include <optional>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// What the rest is by itself, where both sides hold such a value at the same places and `limit`
/// (relative, of the norm) would pass with every other element zero. Nothing of other pairs, of
/// complex ones and of those with holes. Reads a few elements of the reference first, and both
/// sides once where these leave it open. Throws Error, Stopped.
///
/// `metrics`: what the first pass found of the pair.
std::optional<Sentinel> find_sentinel(const Pair& pair, const Metrics& metrics, double limit,
                                      const Stop& stop = {});

}  // namespace ttcheck::compare
