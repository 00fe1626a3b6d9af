// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Megatron core's distributed checkpoints store whole: arguments, iteration and options of the
// optimizer, in `common.pt` or, since 2026, in the object `common_state`; and objects, which are
// opaque (save_state_dict_async_plan and strategies/common.py in megatron/core/dist_checkpointing).

#include <string>

#include "core/model/run.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/mesh.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

struct MegatronCommon {
  MegatronArgs args;
  MegatronMesh mesh;

  /// Adds a common state as facts, and what its arguments say. Arguments that cannot be read are a
  /// finding.
  void add(const TorchFile& file, Value value, State& state);

 private:
  void read_args(Value value, State& state);
};

/// A random state or what a layer keeps beside its weights: said, compared as a note.
void add_object(const std::string& name, const Source& bytes, State& state);

/// The file's findings but for notes.
void add_findings(const TorchFile& file, State& state);

}  // namespace ttcheck::formats
