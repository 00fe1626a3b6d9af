// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which parameters the numbers of an optimizer stand for: its groups, each in the model's order,
// are dealt out of the model's parameters so that every shape fits.

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/box.hpp"

namespace ttcheck::formats {

/// A parameter that an optimizer may hold, in the model's order.
struct Candidate {
  std::string name;
  Shape shape;
};

/// The shape of an id whose state shows none: it fits all.
inline const Shape kAnyShape = {-1};

/// Finds the candidates that the ids of each group stand for, as indices; empty when they cannot be
/// told. A group's ids follow the model's order. `shapes[g][i]` is the shape that the state of the
/// group's i-th id shows. `ambiguous` is set when another assignment fits too; the one that gives
/// the first candidates to the first groups is returned then.
std::vector<std::vector<std::size_t>> match_groups(const std::vector<std::vector<Shape>>& shapes,
                                                   const std::vector<Candidate>& parameters,
                                                   bool& ambiguous);

}  // namespace ttcheck::formats
