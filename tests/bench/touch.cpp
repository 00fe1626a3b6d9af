// SPDX-License-Identifier: Apache-2.0
// Reads every byte of the given files as the comparison does, and only adds them up: the limit that
// end-to-end figures are held against. Usage: touch FILE...

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "formats/bytes/root.hpp"

namespace {

constexpr std::uint64_t kBlock = 1 << 20;

std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sums[16] = {};
  std::size_t at = 0;
  for (; at + sizeof sums <= bytes.size(); at += sizeof sums) {
    std::uint64_t words[16];
    std::memcpy(words, bytes.data() + at, sizeof words);
    for (int k = 0; k < 16; ++k) sums[k] += words[k];
  }
  std::uint64_t sum = 0;
  for (; at < bytes.size(); ++at) sum += std::to_integer<std::uint64_t>(bytes[at]);
  for (const std::uint64_t one : sums) sum += one;
  return sum;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ttcheck;
  if (const char* count = std::getenv("THREADS")) set_threads(std::atoi(count));
  // Page by page: a copy to a few bytes beyond the place within the page that it comes from takes
  // four times as long on some processors.
  struct alignas(4096) Buffer {
    std::byte bytes[kBlock];
  };
  std::vector<std::unique_ptr<Buffer>> buffers(static_cast<std::size_t>(threads()));
  for (auto& buffer : buffers) buffer = std::make_unique_for_overwrite<Buffer>();
  std::vector<std::uint64_t> sums(buffers.size());
  for (int i = 1; i < argc; ++i) {
    const formats::Root root(argv[i], false);
    const Source& file = root.file(root.file_name());
    const std::uint64_t size = file.size();
    parallel_for((size + kBlock - 1) / kBlock, [&](std::size_t block) {
      const auto mine = static_cast<std::size_t>(worker());
      const std::uint64_t from = block * kBlock;
      const std::span<std::byte> part(buffers[mine]->bytes, std::min(kBlock, size - from));
      file.read(from, part);
      sums[mine] += sum_of(part);
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
