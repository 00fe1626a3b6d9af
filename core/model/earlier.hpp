// SPDX-License-Identifier: Apache-2.0
#pragma once
// What earlier steps of a trace left of parameters, for steps that record none.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/model/tensor.hpp"

namespace ttcheck {

/// A parameter or a gradient of one, and the step that recorded it.
struct Earlier {
  Tensor tensor;
  std::optional<std::int64_t> step;
};

/// Parameters by `<module>/param.<slot>`, as earlier steps recorded them last, and their gradients.
using Parameters = std::map<std::string, Earlier, std::less<>>;

}  // namespace ttcheck
