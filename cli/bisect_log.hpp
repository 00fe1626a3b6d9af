#pragma once
// The log of a search over steps: a line `good 10`, `bad 40` or `skip 30` for each step that was
// looked at. A line that starts with # is a remark.

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "cli/steps.hpp"
#include "core/locate/bisect.hpp"

namespace ttcheck::cli {

/// What the log at `path` says of `pairs`, by their place there. Throws Error that names line and
/// text: of another form, or of a step that the runs do not share.
std::map<std::size_t, locate::Mark> read_bisect_log(const std::string& path,
                                                    std::span<const StepPair> pairs);

/// One line, without its end.
std::string bisect_log_line(const StepPair& pair, locate::Mark mark);

}  // namespace ttcheck::cli
