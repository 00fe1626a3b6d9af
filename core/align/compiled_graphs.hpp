// SPDX-License-Identifier: Apache-2.0
#pragma once
// Modules of a traced run that were compiled to one graph: nothing inside them exists there.

#include <string>
#include <vector>

#include "core/align/bench.hpp"
#include "core/model/fact.hpp"

namespace ttcheck::align {

/// Their paths as the run states them (`graphs` in run.json); `root` is the whole model.
std::vector<std::string> graphs_of(std::span<const Fact> facts);

/// Excludes what the other side alone recorded of calls inside these modules of `side`
/// (`candidate`): inputs, outputs and the gradients of both.
void exclude_in_graphs(Bench& bench, const std::vector<std::string>& graphs, std::string_view side);

}  // namespace ttcheck::align
