// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of the source tree, for tests that read samples.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::tests {

/// The path of `path`, which is relative to the project's root. Throws std::runtime_error when
/// nothing is there.
std::string project_file(std::string_view path);

/// Its content. Throws std::runtime_error when it cannot be read.
std::vector<std::byte> project_bytes(std::string_view path);

}  // namespace ttcheck::tests
