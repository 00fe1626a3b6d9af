#pragma once
// Optimizer state under the names of the parameters it belongs to. Optimizers number parameters in
// the order of their groups, and no file says which number is which name: it is found by order and
// shape.

#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/torch_walk.hpp"

namespace ttcheck::formats {

class TorchFile;

/// A parameter that an optimizer may hold, in the model's order.
struct Candidate {
  std::string name;
  Shape shape;
};

/// True for a dict with `state` and `param_groups`.
bool is_optimizer(Value value);

/// An optimizer of a file, the key that leads to it, and the model's parameters.
struct Optimizer {
  const TorchFile& file;
  Value value;
  std::string prefix;
  const std::vector<Candidate>& parameters;
};

/// Adds the optimizer's state: `<param>@<key>` among the leaves, and what its groups say to the
/// facts of `state`, as `optimizer.groups.<i>.<key>`. State that no parameter fits keeps its path
/// under the prefix. REQUIRES is_optimizer.
void add_optimizer(const Optimizer& optimizer, WalkBudget& budget, Leaves& leaves, State& state);

/// For each group of ids, the candidates they stand for, as indices; empty when they cannot be
/// told. A group's ids follow the model's order. `shapes[g][i]` is the shape that the state of the
/// group's i-th id shows; {-1}: unknown, fits all. `ambiguous` is set when another assignment fits
/// too; the first is given then.
std::vector<std::vector<std::size_t>> match_groups(const std::vector<std::vector<Shape>>& shapes,
                                                   const std::vector<Candidate>& parameters,
                                                   bool& ambiguous);

}  // namespace ttcheck::formats
