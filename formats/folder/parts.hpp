// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several runs opened as one: shards of a model, files of a folder, steps of a series.

#include <memory>
#include <string>
#include <vector>

#include "core/model/run.hpp"

namespace ttcheck::formats {

/// The runs a whole is made of. Held by the whole's `owner`, so that their sources stay alive.
class Parts {
 public:
  Run& add(Run run);
  std::size_t size() const { return runs_.size(); }
  Run& operator[](std::size_t i) { return *runs_[i]; }

  /// What changed in the files of any part.
  std::vector<Finding> close() const;

 private:
  std::vector<std::unique_ptr<Run>> runs_;
};

/// The only state of `part`, with what the run itself says joined to it. Throws Error when the part
/// holds several steps.
State only_state(Run& part);

/// Adds `part` to `whole`. Names of tensors and facts get `prefix` and a dot in front, if there is
/// one (a tensor without a name: the prefix alone); what lies beside the part gets it and a slash.
void append(State& whole, State part, const std::string& prefix = {});

}  // namespace ttcheck::formats
