// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optimizer state under the names of the parameters it belongs to. Optimizers number parameters in
// the order of their groups, and no file says which number is which name: it is found by order and
// shape.

#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/torch/fact_adder.hpp"
#include "formats/torch/groups.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

class TorchFile;

/// True for a dict with `state` and `param_groups`.
bool is_optimizer(Value value);

/// An optimizer of a file, and the key that leads to it.
struct Optimizer {
  Value value;
  std::string prefix;
  std::string model;  ///< the key in a dict of optimizers: whose parameters it may hold; or empty
};

/// Adds the optimizers' state: `<param>@<key>` among the leaves, and what their groups say to the
/// facts of `state`, as `optimizer.groups.<i>.<key>`, of further ones `optimizer_<n>.groups...`.
/// One that a dict calls by the name of a model holds parameters of that name (`<model>.`), if they
/// fit. The others are dealt out to all optimizers, or where that cannot be, to each alone. State
/// that no parameter fits keeps its path under the prefix. What the budget has no more room for is
/// left out. REQUIRES is_optimizer of each, and that `facts` adds to `state`.
void add_optimizers(const TorchFile& file, const std::vector<Optimizer>& optimizers,
                    const std::vector<Candidate>& parameters, WalkBudget& budget, Leaves& leaves,
                    FactAdder& facts, State& state);

/// The shape of the parameter that a state is of: that of its first tensor that is no scalar, of
/// factored moments (Adafactor) the one that they are factors of; kAnyShape: it shows none.
Shape shape_of_state(const TorchFile& file, Value state);

}  // namespace ttcheck::formats
