// SPDX-License-Identifier: Apache-2.0
#pragma once
// Folders into which accelerate lets FSDP's ranks write optimizers, beside the one of the model
// (accelerate/utils/fsdp_utils.py `save_fsdp_optimizer`: `optimizer_0`). Each is a distributed
// checkpoint.

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/folder/parts.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// True for the name of such a folder.
bool is_optimizer_folder(std::string_view name);

class OptimizerFolders {
 public:
  /// Opens those of the probe's directory. One that cannot be opened is a finding of `add_to`.
  OptimizerFolders(const Probe& probe, const OpenOptions& options);

  /// Adds what they hold. The tensors of a further optimizer are named after the model of its
  /// number, its facts `optimizer_N`.
  void add_to(State& state);

  std::vector<Finding> close() const { return parts_.close(); }

 private:
  Parts parts_;
  std::vector<std::int64_t> numbers_;  ///< of each part
  std::vector<Finding> unopened_;
};

}  // namespace ttcheck::formats
