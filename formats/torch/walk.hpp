// SPDX-License-Identifier: Apache-2.0
#pragma once
// The leaves of a value graph under their dotted paths, as a reader of the loaded object would
// write them: keys, indices, attributes; a module's parameters as its state_dict names them.

#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes/pickle.hpp"
#include "formats/torch/budget.hpp"

namespace ttcheck::formats {

struct Leaf {
  std::string path;
  Value value;
};

struct Leaves {
  std::vector<Leaf> tensors;  ///< TorchFile::is_tensor
  std::vector<Leaf> others;   ///< scalars, arrays, lists of scalars, and what is not understood
  bool cut = false;           ///< values are shared so often that not every path was followed
};

/// Adds the leaves below `value`, in order. `prefix` is its path; `top` says that it has none. A
/// value that contains itself is entered once on each path. Time and memory are bounded by what is
/// left of the budget; when it ends, so do the leaves, which are `cut`.
void add_leaves(Value value, std::string_view prefix, bool top, WalkBudget& budget, Leaves& leaves);

/// True when there is a tensor below `value`, as far as the budget lets one look.
bool holds_tensor(Value value, WalkBudget& budget);

/// A dict key as a part of a path: text as it is, numbers and tuples as Python prints them.
std::string path_part(Value key);

}  // namespace ttcheck::formats
