// SPDX-License-Identifier: Apache-2.0
#include "core/diff/keep_parameters.hpp"

#include <string>
#include <utility>

namespace ttcheck::diff {

void keep_parameters(MetStep& met, noise::Carried& carried) {
  for (std::size_t side = 0; side < met.sides->size(); ++side) {
    for (Tensor& tensor : met.sides->at(side).assembly.tensors) {
      const Phase phase = tensor.identity.phase;
      const bool stands = phase == Phase::state || phase == Phase::optimizer;
      const bool weight = tensor.kind == Kind::weight && stands;
      if (!weight && tensor.kind != Kind::main_grad && tensor.kind != Kind::grad) continue;
      std::string name = tensor.identity.name;
      carried.parameters[side].insert_or_assign(std::move(name),
                                                Earlier{std::move(tensor), met.step});
    }
  }
}

}  // namespace ttcheck::diff
