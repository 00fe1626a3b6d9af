#pragma once
// What a Trainer (transformers/trainer.py) or accelerate's save_state (accelerate/checkpointing.py)
// leaves beside the weights: optimizer, scheduler, gradient scaler, generators, arguments.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/torch_file.hpp"

namespace ttcheck::formats {

/// True for the name of such a file.
bool is_training_state(std::string_view name);

/// The files of one directory. Keeps what the records of the optimizer point to.
class TrainingState {
 public:
  /// `root` must outlive it.
  TrainingState(const Root& root, std::vector<std::string> files)
      : root_(&root), files_(std::move(files)) {}

  /// Adds them to the state that the weights make: optimizer state under their names (of a second
  /// optimizer under its numbers), everything else as facts. A file that cannot be read is a
  /// finding; one that is not there TT508 for a rank's generators, else TT505, where the others
  /// show that it was written.
  void add_to(State& state);

 private:
  void add_file(const std::string& name, const std::vector<Record>& weights, State& state);
  void find_missing(State& state) const;
  void find_gaps(State& state) const;
  const std::string* file_of(std::string_view prefix) const;
  Finding missing(const std::string& name, std::string_view witness) const;
  const TorchFile& opened(const std::string& name);

  const Root* root_;
  std::vector<std::string> files_;
  std::map<std::string, std::unique_ptr<const TorchFile>> opened_;
};

}  // namespace ttcheck::formats
