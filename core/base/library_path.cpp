// SPDX-License-Identifier: Apache-2.0
#include "core/base/library_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace ttcheck {
namespace {

constexpr const char* kPath = "LD_LIBRARY_PATH";

/// Of the root, or of where the program lies, as the loader has it.
bool is_absolute(std::string_view folder) {
  return folder.starts_with('/') || folder.starts_with("$ORIGIN") ||
         folder.starts_with("${ORIGIN}");
}

std::string absolute_parts(std::string_view path) {
  std::string kept;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find_first_of(":;", begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (is_absolute(part)) kept.append(kept.empty() ? "" : ":").append(part);
    begin = end + 1;
  }
  return kept;
}

}  // namespace

void leave_relative_libraries(char** argv) {
  const char* const path = std::getenv(kPath);
  if (path == nullptr) return;
  const std::string kept = absolute_parts(path);
  if (kept.size() == std::string_view(path).size()) return;
  if ((kept.empty() ? ::unsetenv(kPath) : ::setenv(kPath, kept.c_str(), 1)) != 0) return;
  std::string program(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
  if (length > 0 && std::cmp_less(length, program.size())) ::execv(program.c_str(), argv);
}

}  // namespace ttcheck
