// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the files of a Trainer's checkpoint are of one step. `checkpoint-N` is named after
// `global_step` of trainer_state.json; optimizer and scheduler make a step each time that it is
// raised, but for steps that a gradient scaler skips and for schedulers that step at evaluations
// (transformers/trainer.py `_save_checkpoint`, `_inner_training_loop`).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"

namespace ttcheck::formats {

/// TT507 for files that state another step than the others; a warning, TT401, where optimizer and
/// scheduler are behind together, as they are when they were made anew. `described`: facts of
/// trainer_state.json; `given`: the directory.
std::vector<Finding> check_trainer_steps(const State& state, const std::vector<Fact>& described,
                                         std::string_view given);

}  // namespace ttcheck::formats
