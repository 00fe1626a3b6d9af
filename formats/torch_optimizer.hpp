#pragma once
// Optimizer state under the names of the parameters it belongs to. Optimizers number parameters in
// the order of their groups, and no file says which number is which name: it is found by order and
// shape.

#include <string>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
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

/// Adds the optimizer's state: `<param>@<key>`, and what its groups say as facts
/// `optimizer.groups.<i>.<key>`. State that no parameter fits keeps its path under `prefix`.
void add_optimizer(const TorchFile& file, Value optimizer, const std::string& prefix,
                   const std::vector<Candidate>& parameters, Leaves& leaves,
                   std::vector<Fact>& facts, std::vector<Finding>& findings);

/// For each group of ids, the candidates they stand for, as indices; empty when they cannot be
/// told. A group's ids follow the model's order. `shapes[g][i]` is the shape that the state of the
/// group's i-th id shows; {-1}: unknown, fits all. `ambiguous` is set when another assignment fits
/// too; the first is given then.
std::vector<std::vector<std::size_t>> match_groups(const std::vector<std::vector<Shape>>& shapes,
                                                   const std::vector<Candidate>& parameters,
                                                   bool& ambiguous);

}  // namespace ttcheck::formats
