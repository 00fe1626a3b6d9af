// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of one parameter, its gradient and what an update left of it, whatever names them.

#include <optional>
#include <string>
#include <string_view>

#include "core/model/tensor.hpp"

namespace ttcheck::noise {

/// The gradient of a parameter, before ranks were summed or behind it.
constexpr bool is_parameter_gradient(Kind kind) {
  return kind == Kind::main_grad || kind == Kind::grad;
}

/// `<module>/<slot>` of a parameter's or its gradient's record: `l.0/param.bias` and
/// `l.0/main_grad.bias` are at `l.0/bias`. The word and the number of the call that recorded it,
/// which some dumps put behind a module (`Module.head.Linear.forward.0`, `.parameters_grad.0`), are
/// left out. Other names are as they were.
std::string parameter_place(std::string_view record);

/// `<module>/<slot>` of the parameter that a record is of, which it may name itself (`owner`:
/// `l.0.bias`).
std::string parameter_place(const Tensor& record);

/// The place of the weight beside the bias at this one; nothing of other places.
std::optional<std::string> weight_place(std::string_view bias);

}  // namespace ttcheck::noise
