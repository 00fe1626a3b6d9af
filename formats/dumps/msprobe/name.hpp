// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names in msprobe's dumps (msprobe/core/dump): keys of dump.json and names of tensor files.
//   Tensor.__add__.10.forward                      the eleventh call of an API
//   Module.layers.1.attn.Attention.forward.0       a module's first call, with its class
//   Module.layers.1.attn.Attention.parameters_grad.0
//   hidden.0.debug                                 what the user saved by hand
// A file adds what it holds: `<key>.input.0.pt`, `<key>.kwargs.mask.pt`,
// `<key>.parameters.bias.pt`.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/identity.hpp"
#include "core/model/kind.hpp"

namespace ttcheck::formats {

struct MsprobeOp {
  std::string base;  ///< the key without the counter of its calls
  bool backward = false;
  bool gradients = false;  ///< of parameters
  bool debug = false;      ///< saved by hand
};

/// Nothing for a key of another form.
std::optional<MsprobeOp> parse_msprobe_op(std::string_view key);

/// The key and what of it (`output.0`; empty for the whole) that a tensor file's name states,
/// whatever its ending; nothing for a name of another form.
std::optional<std::pair<std::string, std::string>> parse_msprobe_file(std::string_view file_name);

/// What a tensor of an op is. In a backward call `input` is the gradient of the op's output, from
/// which it makes that of its input.
std::pair<Phase, Kind> msprobe_meaning(const MsprobeOp& op, std::string_view slot);

}  // namespace ttcheck::formats
