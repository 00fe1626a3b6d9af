// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place where text leaves the program. Every write is checked; a report on disk is whole or not
// there.

#include <string>
#include <string_view>

namespace ttcheck::cli {

/// Opens /dev/null for each of descriptors 0-2 that is closed, so that no input becomes "stdout".
void reopen_closed_files();

/// Writes to stdout. A closed pipe is success (the reader had enough), anything else throws Error.
void write_stdout(std::string_view text);

/// Writes to stderr; what cannot be said there is lost.
void write_stderr(std::string_view text);

/// Replaces the file at `path` in one step, which keeps its mode: a new file that has a name only
/// for the moment of its rename, synced before. What runs that were killed left beside it is
/// removed. On any failure (disk full, size limit, no permission) throws Error and leaves what was
/// there as it was.
/// Refuses a symbolic link or anything that is not a regular file at `path`.
void write_report(const std::string& path, std::string_view text);

}  // namespace ttcheck::cli
