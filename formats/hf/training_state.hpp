// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Trainer (transformers/trainer.py) or accelerate's save_state (accelerate/checkpointing.py)
// leaves beside the weights: optimizer, scheduler, gradient scaler, generators, arguments.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// True for the name of such a file.
bool is_training_state(std::string_view name);

/// The weights of each model that was saved, by its number from 0, under names of their own.
using ModelWeights = std::map<std::int64_t, std::vector<Record>>;

/// The files of one directory. Keeps what the records of the optimizer point to.
class TrainingState {
 public:
  /// `root` must outlive it.
  TrainingState(const Root& root, std::vector<std::string> files)
      : root_(&root), files_(std::move(files)) {}

  /// Adds them to the state that the weights make: optimizer state under their names (of several
  /// optimizers where each has a model, else of a further one under its numbers), tensors of custom
  /// objects, everything else as facts. A file that cannot be read is a finding; one that is not
  /// there TT508 for a rank's generators, else TT505, where the others show that it was written.
  void add_to(State& state, const ModelWeights& weights);

 private:
  void add_file(const std::string& name, const ModelWeights& weights, State& state);
  std::vector<std::int64_t> models_of(std::int64_t number, const ModelWeights& weights) const;
  void find_missing(State& state) const;
  void find_gaps(State& state) const;
  bool has_folder(bool (*is_one)(std::string_view name)) const;
  const std::string* file_of(std::string_view prefix) const;
  Finding missing(const std::string& name, std::string_view witness) const;
  const TorchFile& opened(const std::string& name);

  const Root* root_;
  std::vector<std::string> files_;
  std::map<std::string, std::unique_ptr<const TorchFile>> opened_;
};

}  // namespace ttcheck::formats
