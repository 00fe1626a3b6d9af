// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors of which only the name, the kind that it says and the shape matter.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::tests {

/// `made` under that name, and of the kind that it says.
inline Tensor named(const std::string& name, Tensor made) {
  made.identity.name = name;
  made.kind = kind_of_name(name);
  return made;
}

/// Without values.
inline Tensor named_tensor(const std::string& name, Shape shape = {2, 3}) {
  Tensor made;
  made.shape = std::move(shape);
  return named(name, std::move(made));
}

inline std::vector<Tensor> named_tensors(std::initializer_list<std::string> names,
                                         const Shape& shape = {2, 3}) {
  std::vector<Tensor> all;
  for (const std::string& name : names) all.push_back(named_tensor(name, shape));
  return all;
}

}  // namespace ttcheck::tests
