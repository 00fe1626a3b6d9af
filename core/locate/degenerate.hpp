// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dumps that cannot be what a model computed: every layer's output is the same, as a captured graph
// or a buffer that is written again and again leaves them.

#include <optional>
#include <span>

#include "core/locate/preconditions.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::locate {

/// Forward outputs whose names differ only in numbers (`layers.3.mlp` and `layers.7.mlp`) belong
/// together. Where, on one side, most of these groups hold one and the same content, told by a norm
/// that is the same to the last bit, the dump is degenerate. Some repeat rightly (rotary tables,
/// masks, a stream that blocks do not change yet), so one group among others tells nothing; zeros
/// tell nothing either (blocks that start at zero, experts without tokens), nor do fewer than four
/// records, or records of fewer than eight elements. `results` of one step, unfiltered; those
/// without values, or with any that is not finite on both sides, count for nothing.
std::optional<Precondition> degenerate_dump(std::span<const TensorResult> results);

}  // namespace ttcheck::locate
