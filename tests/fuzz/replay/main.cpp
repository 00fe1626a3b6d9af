// SPDX-License-Identifier: Apache-2.0
// Replays a corpus through one fuzz target: replay_NAME FILE-OR-FOLDER...
// Each input lies in a heap buffer of exactly its length, so that a sanitizer sees a read one byte
// too far. A folder of fewer than kLeast inputs is a failure: a target without inputs tests
// nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kLeast =
    12;  ///< that reach what a target has: sound, cut off, wrong in parts

std::vector<std::filesystem::path> inputs(const std::filesystem::path& given) {
  if (!std::filesystem::is_directory(given)) return {given};
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(given)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto exact = std::make_unique<std::uint8_t[]>(content.size());
  std::copy(content.begin(), content.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), content.size());
}

}  // namespace

int main(int count, char** words) {
  std::size_t ran = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::exists(words[i])) {
      std::fprintf(stderr, "no such input: %s\n", words[i]);
      return 1;
    }
    const auto paths = inputs(words[i]);
    if (std::filesystem::is_directory(words[i]) && paths.size() < kLeast) {
      std::fprintf(stderr, "%s: %zu inputs, at least %zu are wanted\n", words[i], paths.size(),
                   kLeast);
      return 1;
    }
    for (const auto& path : paths) {
      std::fprintf(stderr, "%s\n", path.c_str());
      replay(path);
      ++ran;
    }
  }
  std::printf("%zu inputs replayed\n", ran);
  return ran > 0 ? 0 : 1;
}
