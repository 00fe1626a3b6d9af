// SPDX-License-Identifier: Apache-2.0
#pragma once
// A report on disk is whole or not there.

#include <string>
#include <string_view>

namespace ttcheck::formats {

/// Replaces the file at `path` in one step, which keeps its mode: a new file that has a name only
/// for the moment of its rename, synced before. What runs that were killed left beside it is
/// removed. On any failure (disk full, size limit, no permission) throws Error and leaves what was
/// there as it was.
/// Refuses a symbolic link or anything that is not a regular file at `path`.
void replace_file(const std::string& path, std::string_view text);

}  // namespace ttcheck::formats
