// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place where text leaves the program. Every write is checked.

#include <string_view>

namespace ttcheck::cli {

/// Opens /dev/null for each of descriptors 0-2 that is closed, so that no input becomes "stdout".
void reopen_closed_files();

/// Writes to stdout. A closed pipe is success (the reader had enough), anything else throws Error.
void write_stdout(std::string_view text);

/// Writes to stderr; what cannot be said there is lost.
void write_stderr(std::string_view text);

}  // namespace ttcheck::cli
