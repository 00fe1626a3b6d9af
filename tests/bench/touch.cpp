// Reads every byte of the given files as the comparison does, and only adds them up: the limit that
// end-to-end figures are held against. Usage: touch FILE...

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "formats/bytes/root.hpp"

namespace {

constexpr std::uint64_t kBlock = 1 << 20;

std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sums[4] = {};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof words);
    for (int k = 0; k < 4; ++k) sums[k] += words[k];
  }
  for (; at < bytes.size(); ++at) sums[0] += std::to_integer<std::uint64_t>(bytes[at]);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ttcheck;
  if (const char* count = std::getenv("THREADS")) set_threads(std::atoi(count));
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(threads()));
  std::vector<std::uint64_t> sums(buffers.size());
  for (int i = 1; i < argc; ++i) {
    const formats::Root root(argv[i], false);
    const Source& file = root.file(root.file_name());
    const std::uint64_t size = file.size();
    parallel_for((size + kBlock - 1) / kBlock, [&](std::size_t block) {
      const auto mine = static_cast<std::size_t>(worker());
      const std::uint64_t from = block * kBlock;
      buffers[mine].resize(std::min(kBlock, size - from));
      file.read(from, buffers[mine]);
      sums[mine] += sum_of(buffers[mine]);
    });
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  fmt::print("{:016x}\n", total);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
