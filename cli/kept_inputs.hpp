// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an output may not replace: a file that is read, and any file that lies in a run that is
// read.

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// The errand of writing a text to output `number` of outputs_of().
inline constexpr std::size_t kWriting = 0;

/// The paths that these options read from, and those that they write to; some may be empty.
std::vector<std::string> inputs_of(const Options& options);
std::vector<std::string> outputs_of(const Options& options);

/// Throws Error where something is at a path that these options write and is an input by them, or
/// lies in a directory that is one. What is not there yet may be written anywhere; a log that is
/// replayed goes on in its place. To be asked before anything is read.
void refuse_inputs(const Options& options);

/// formats::replace_file, by who was set apart for it, with the same refusal; by then what was
/// opened is known, too, to which a link may have led.
void write_output(const Options& options, const std::string& path, std::string_view text);

}  // namespace ttcheck::cli
