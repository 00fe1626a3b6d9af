// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which step a checkpoint says it is of, when it is opened by itself: by its name, by what the
// trainer counted, by its optimizer, by its schedule.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"

namespace ttcheck::formats {

/// Those of the facts that count steps.
std::vector<Fact> step_facts(std::span<const Fact> facts);

/// The best evidence first; a file's name is that of its folder, too. What one kind of evidence
/// says in two ways says nothing. `given`: of the run; `facts`: its `step_facts`. The optimizer's
/// counters are read where nothing better is there.
std::vector<StatedStep> steps_stated(std::string_view given, bool directory,
                                     std::span<const Fact> facts, const State& state);

/// What the name says as one of a series: `State::in_series`.
std::optional<StatedStep> stated_in_series(std::string_view given, bool directory);

}  // namespace ttcheck::formats
