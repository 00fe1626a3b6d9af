// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder in memory for a process that rewrites its files again and again.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace ttcheck::tests {

/// Made at the first call, removed at the end of the process.
inline const std::string& scratch_folder() {
  static const std::string path = [] {
    std::string folder = "/dev/shm/ttcheck-fuzz-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    static const std::string kept = folder;
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(kept, ignored);
    });
    return folder;
  }();
  return path;
}

}  // namespace ttcheck::tests
