// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an output may not replace: a file that is read, and any file that lies in a run that is
// read.

#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Throws Error where something is at a path that these options write and is an input by them, or
/// lies in a directory that is one. What is not there yet may be written anywhere; a log that is
/// replayed goes on in its place. To be asked before anything is read.
void refuse_inputs(const Options& options);

/// formats::replace_file, with the same refusal; by then what was opened is known, too, to which a
/// link may have led.
void write_output(const Options& options, const std::string& path, std::string_view text);

}  // namespace ttcheck::cli
