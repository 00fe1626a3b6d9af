// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder into which a Trainer or accelerate lets DeepSpeed write its state: `global_stepN`
// (transformers/trainer.py `_save_optimizer_and_scheduler`), or `pytorch_model` (accelerate's
// `save_state`), with a tracker `latest` beside it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/folder/parts.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// True where the names of a directory tell such a folder.
bool has_engine_folder(const Probe& probe);

class EngineFolder {
 public:
  /// Opens it, where the directory has one; a fault is a finding of `add_to`.
  EngineFolder(const Probe& probe, const OpenOptions& options);

  bool found() const { return !path_.empty(); }

  /// True for the folder and its tracker.
  bool holds(std::string_view path) const;

  /// The mesh of the ranks that wrote it; empty where there is no folder, or it cannot be opened.
  Mesh mesh() const { return mesh_; }

  /// Adds what it holds. Weights that the state has already stay as they are there.
  void add_to(State& state);

  std::vector<Finding> close() const { return parts_.close(); }

 private:
  void choose(const Probe& probe);

  std::string path_;
  Parts parts_;  ///< the opened folder, or none
  Mesh mesh_;
  std::vector<Fact> facts_;
  std::vector<Finding> findings_;
  std::int64_t unreadable_ = 0;
};

}  // namespace ttcheck::formats
