// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ttcheck this is.

#include <string_view>

namespace ttcheck {

/// The version as git describes what was built: `0.1.0` at a release, `0.1.0-12-g8da37ba1` twelve
/// commits behind it, `0.1.0+g8da37ba1` where there was none yet, `-dirty` behind that where
/// sources had changed; without git the number that CMakeLists.txt states (cmake/Version.cmake).
std::string_view version();

}  // namespace ttcheck
