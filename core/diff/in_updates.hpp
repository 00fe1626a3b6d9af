#pragma once
// How far two trainings took the weights apart, in lengths of an update.

#include <cstddef>
#include <optional>
#include <span>

#include "core/diff/met.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// The rms of b - a over the learning rate, which is about the longest that one update of an
/// Adam-like optimizer moves a value (Kingma and Ba, "Adam", 2014, section 2.1). Of the weights
/// among `results` at `moved` whose store is f32 or finer, since a coarser one rounds by more than
/// an update. Nothing where the reference does not state one rate for all groups, or has no two
/// moments beside its weights.
std::optional<double> apart_in_updates(const MetStep& met, std::span<const TensorResult> results,
                                       std::span<const std::size_t> moved);

}  // namespace ttcheck::diff
