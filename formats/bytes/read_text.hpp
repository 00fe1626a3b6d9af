// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of the user's own: layouts, maps, limits, manifests, logs.

#include <cstddef>
#include <string>

namespace ttcheck::formats {

/// The file, or what comes through a pipe that somebody writes to, as text; a pipe's is kept for
/// who asks again. Throws Error, also where it has more than `most` bytes, is neither, or nothing
/// came.
std::string read_text(const std::string& path, std::size_t most = std::size_t{16} << 20);

}  // namespace ttcheck::formats
