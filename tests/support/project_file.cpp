#include "tests/support/project_file.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ttcheck::tests {

std::string project_file(std::string_view path) {
  const char* root = std::getenv("TTCHECK_SOURCE_DIR");
  return std::string(root != nullptr ? root : ".") + "/" + std::string(path);
}

std::vector<std::byte> project_bytes(std::string_view path) {
  std::ifstream file(project_file(path), std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + project_file(path));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace ttcheck::tests
