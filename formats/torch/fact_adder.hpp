// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts of a torch file as they are added to its State: at most so many, and so many bytes hashed.

#include "core/model/run.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {

class TorchFile;

class FactAdder {
 public:
  /// REQUIRES that both outlive it.
  FactAdder(const TorchFile& file, State& state) : file_(file), hashes_(file), state_(state) {}

  /// False when there are too many: then a finding, the first time, says that the rest is not read.
  bool add(const Leaf& leaf);
  /// The same for a tensor; one that cannot be read is a finding and counts as unreadable.
  bool add_tensor(const Leaf& leaf);

 private:
  bool has_room(Value value);

  const TorchFile& file_;
  HashBudget hashes_;
  State& state_;
  bool full_ = false;  ///< which was said
};

}  // namespace ttcheck::formats
