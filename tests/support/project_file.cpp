// SPDX-License-Identifier: Apache-2.0
#include "tests/support/project_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ttcheck::tests {

std::string project_file(std::string_view path) {
  const char* root = std::getenv("TTCHECK_SOURCE_DIR");
  const std::string found = std::string(root != nullptr ? root : ".") + "/" + std::string(path);
  if (!std::filesystem::exists(found)) {
    throw std::runtime_error(found + " is not there: run from the root of the repository");
  }
  return found;
}

std::vector<std::byte> project_bytes(std::string_view path) {
  std::ifstream file(project_file(path), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + project_file(path));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace ttcheck::tests
