// SPDX-License-Identifier: Apache-2.0
#pragma once
// The log of a search over steps: a line `good 10`, `bad 40` or `skip 30` for each step that was
// looked at. A line that starts with # is a remark.

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "core/bisect/search.hpp"
#include "core/model/step.hpp"

namespace ttcheck::bisect {

/// What the log in `text` says of `pairs`, by their place there. Throws Error that names `path`,
/// line and text: of another form, or of a step that the runs do not share.
std::map<std::size_t, Mark> parse_log(const std::string& text, const std::string& path,
                                      std::span<const StepPair> pairs);

/// One line, without its end.
std::string log_line(const StepPair& pair, Mark mark);

}  // namespace ttcheck::bisect
