// SPDX-License-Identifier: Apache-2.0
#pragma once
// The call tree that transformers' model_addition_debugger_context writes as JSON
// (transformers/model_debugging_utils.py): modules within modules, each with what it took and gave.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// One leaf of what a module took or gave.
struct DebugValue {
  std::string_view module;  ///< dotted, without the model's class; `top-level`: the model itself
  /// `inputs.args.0`, `inputs.kwargs.mask`, `outputs.1`; the first or only output is `outputs`, so
  /// that a model that gives a tuple meets one that gives its tensor.
  std::string slot;
  std::int32_t call = 0;  ///< of that module, counted from 0
  bool tensor = false;    ///< `node` has shape and dtype; else it is what Python printed
  Json node;

  bool is_input() const { return slot.starts_with("inputs"); }
  std::string name() const { return std::string(module) + " " + slot; }
};

/// All values in the order in which they came about: a module's inputs, what its children do, its
/// outputs. Of what is no tensor only arguments and outputs themselves, not what is in their lists.
/// They point into the document. Throws Error where the tree is no such tree.
std::vector<DebugValue> debug_values(const Json& tree);

}  // namespace ttcheck::formats
