// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs that the words of a command name, opened with the layouts that are meant for them.

#include <array>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/model/run.hpp"

namespace ttcheck::cli {

/// Opens a run. Throws Error when nothing of it can be read, or a layout file cannot.
Run open_side(const std::string& path, Side side, const Options& options);

/// Both sides of a comparison, side by side.
std::array<Run, 2> open_both(const std::string& reference, const std::string& candidate,
                             const Options& options);

/// One behind the other; the first `references` of them are the reference's side.
std::vector<Run> open_all(const std::vector<std::string>& paths, std::size_t references,
                          const Options& options);

/// Reads the layouts and the limits file that `options` names, each once: one may be a pipe.
/// REQUIRED before a run is opened. Throws Error.
void read_files(Options& options);

}  // namespace ttcheck::cli
