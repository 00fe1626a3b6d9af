#pragma once
// What an output may not replace: a file that is read, and any file that lies in a run that is
// read.

#include <string>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Throws Error where something is at `path` that is an input by these options, or by what was
/// opened until now (a link may have led to it), or that lies in a directory that is one. What is
/// not there yet may be written anywhere; a log that is replayed goes on in its place.
void refuse_input(const Options& options, const std::string& path);

/// The same for all that these options write, before anything is read.
void refuse_inputs(const Options& options);

}  // namespace ttcheck::cli
