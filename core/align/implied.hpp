// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that one side stores and the other does not, since there they follow from another tensor:
// a parameter tied to one that is stored, the 16-bit copy of a master, a master that was made from
// the 16-bit weight. They are compared with that tensor; nothing is taken for granted.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// The name under which a side stores a tied parameter, by the name of that parameter.
using Ties = std::map<std::string, std::string>;

/// What a side says of its tied parameters.
struct StatedTies {
  Ties names;
  bool embeddings = false;  ///< the embeddings are tied, whatever they are called
};

struct ImpliedBy {
  std::size_t tensor = 0;  ///< of the other side
  std::string_view rule;
};

using Implied = std::map<std::size_t, ImpliedBy>;

/// Finds those of `alone` (indices into `tensors`) that the other side implies, and by what. `ties`
/// are the other side's. A weight is implied by its tie, or by a master where the other side keeps
/// no weight beside any of its masters; a master of a parameter without moments, where others have
/// them, by the weight.
Implied implied(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                std::span<const Tensor> others, const Ties& ties);

}  // namespace ttcheck::align
