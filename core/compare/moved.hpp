// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart two stored states have a tensor, as some of its elements tell.

#include "core/compare/pair.hpp"
#include "core/compare/pair_values.hpp"
#include "core/compare/stop.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// How far apart the places are that are finite on both sides.
struct Sampled {
  Moved moved;
  bool constant = true;    ///< the reference has one value
  bool disagrees = false;  ///< other places are NaN or infinite on one side alone
};

/// Measures how far apart the elements of core/compare/sampled.hpp are.
/// REQUIRES has_real_values(pair). Throws Error, Stopped.
Sampled sampled(const Pair& pair, const Stop& stop = {});

/// The same of bytes that are at hand: all elements of both sides as `fetch` gives them.
Sampled sampled(const Pair& pair, const WholeBytes& bytes);

}  // namespace ttcheck::compare
