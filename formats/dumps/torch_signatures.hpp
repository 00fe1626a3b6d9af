// SPDX-License-Identifier: Apache-2.0
#pragma once
// What functions and modules of torch (and of MindSpore, NPUs and transformers, where they are
// called alike) compute, in the words of trace records' `op`, and which of their arguments is what.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

/// One parameter of a function.
struct TorchParameter {
  enum class Role : std::uint8_t { attribute, argument, weight, bias };
  std::string_view name;   ///< as torch has it
  std::string_view words;  ///< as attributes of records have it
  Role role = Role::attribute;
  std::size_t place = 0;  ///< of an argument: its place among those of the op
};

struct TorchSignature {
  std::string_view op;
  std::vector<TorchParameter> parameters;

  /// Finds a parameter by its place or name; null for none.
  const TorchParameter* at(std::size_t place) const;
  const TorchParameter* named(std::string_view name) const;
};

/// The signature of a function by its last name (`layer_norm`, `__add__`, `npu_rms_norm`); nothing
/// for one that is not known.
std::optional<TorchSignature> torch_function(std::string_view name);

/// The signature of a module by its class (`Linear`, `LlamaRMSNorm`): its parameters are what it
/// takes, its weight and bias are its own. Nothing for a class that is not known.
std::optional<TorchSignature> torch_module(std::string_view name);

/// The op of a submodule that is known by its name alone (`act_fn`, `q_proj`); empty: none.
std::string_view op_of_submodule(std::string_view name);

}  // namespace ttcheck::formats
