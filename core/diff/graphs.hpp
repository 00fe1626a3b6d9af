// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which call made which record, of both sides of a step.

#include "core/recompute/graph.hpp"

namespace ttcheck::diff {

struct Graphs {
  recompute::Graph reference, candidate;
};

}  // namespace ttcheck::diff
