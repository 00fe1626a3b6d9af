// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the files of a tag are of one step: the counters that they state, held against each other
// and against the tag's name. `global_steps` counts the optimizer's steps, those in `skipped_steps`
// too, and names the tag (deepspeed/runtime/engine.py `_take_model_step`, `save_checkpoint`). The
// `step` of an optimizer counts from where that was made, so that it may be lower; it is one ahead
// where memory was allocated by a first step on zeros (`initialize_optimizer_states`).

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

class DeepspeedSteps {
 public:
  /// The tag must outlive it.
  explicit DeepspeedSteps(const DeepspeedTag& tag);

  /// A number of the optimizer in `part` that all files which have it must state alike.
  void note(const DeepspeedPart& part, const std::string& counter, double value);

  /// Adds TT507 for the files of another step than the others, or than the tag's name; for all of
  /// them where neither tells which are wrong.
  void check(State& state);

 private:
  using Parts = std::vector<const DeepspeedPart*>;
  using Votes = std::map<double, Parts>;

  void check_models(State& state);
  void check_numbers(State& state);
  void check_optimizers(State& state);
  void blame(const Parts& parts, const std::string& message, State& state);
  bool fits(double step, std::int64_t steps) const;

  const DeepspeedTag& tag_;
  std::optional<std::int64_t> named_;  ///< by the tag's name
  std::optional<std::int64_t> usual_;  ///< global_steps of the tag
  std::int64_t skipped_ = 0;
  std::map<std::string, Votes> numbers_;           ///< by counter
  std::map<const DeepspeedPart*, double> newest_;  ///< the highest `step` of an optimizer
  std::set<const DeepspeedPart*> blamed_;
};

}  // namespace ttcheck::formats
