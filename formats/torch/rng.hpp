// SPDX-License-Identifier: Apache-2.0
#pragma once
// States of random number generators that a step of a training run stores among its tensors.

#include "core/model/run.hpp"

namespace ttcheck::formats {

/// Turns torch's generator states (a row of bytes below `rng`, `rng_state`...) into facts, by hash.
/// They are no tensors of the run: what they say is whether two steps go on alike.
void take_rng(State& state);

}  // namespace ttcheck::formats
