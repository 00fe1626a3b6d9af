// SPDX-License-Identifier: Apache-2.0
#pragma once
// States that lie beside a run or a step under a name of their own (averaged weights, the end of a
// training, the same weights in another file): those of one name meet, and what is said of them
// goes under that name.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// The one of that name, or null.
const NamedState* namesake(const NamedState& one, std::span<const NamedState> others);

/// Adds what the comparison `part` of two states of that name came to, the name in front of its
/// tensors; `step`: beside which they lie.
void add_named(const std::string& name, std::optional<std::int64_t> step, Verdict&& part,
               Verdict& all);

/// What one side alone has: a finding of that severity, and no more.
void note_alone(std::span<const NamedState> reference, std::span<const NamedState> candidate,
                std::optional<std::int64_t> step, Severity severity, Verdict& verdict);

/// Throws Error with the names where a run is several runs side by side, none of which is meant,
/// unless the other side has some of the same names.
void require_namesakes(const Run& run, const Run& other);

/// That these are no part of what a command on one run tells; nothing where there are none.
std::vector<Finding> named_note(std::span<const NamedState> states,
                                std::optional<std::int64_t> step);

}  // namespace ttcheck::diff
