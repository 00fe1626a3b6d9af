// SPDX-License-Identifier: Apache-2.0
// What of the program ran: with TTCHECK_TRACE=FOLDER, a process leaves there the places of code
// that it came through (uint32 distances from the start of the executable), in a file named by its
// number, which is opened at once: later the program opens none for writing. For
// tests/mutants/reach.py; compiled into a build with TTCHECK_TRACE=ON alone.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" const char __executable_start, etext;  // from the linker

namespace {

// One byte for each of code, shared with processes that are forked: they end without a word.
struct Places {
  std::size_t size = static_cast<std::size_t>(&etext - &__executable_start);
  unsigned char* seen = static_cast<unsigned char*>(mmap(
      nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
};

Places* places = nullptr;
std::FILE* file = nullptr;

__attribute__((constructor(101), no_sanitize_coverage)) void begin() {
  if (std::getenv("TTCHECK_TRACE") == nullptr) return;
  static Places made;
  if (made.seen != MAP_FAILED) places = &made;
  const std::string path = fmt::format("{}/{}", std::getenv("TTCHECK_TRACE"), getpid());
  file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::perror(path.c_str());
}

__attribute__((destructor(101), no_sanitize_coverage)) void end() {
  if (places == nullptr) return;
  const Places& all = *places;
  places = nullptr;
  for (std::uint32_t at = 0; file != nullptr && at < all.size; ++at) {
    if (all.seen[at] != 0) std::fwrite(&at, sizeof at, 1, file);
  }
  if (file != nullptr && std::fclose(file) != 0) std::perror("places");
}

}  // namespace

extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  if (places == nullptr) return;
  const auto* place = static_cast<const char*>(__builtin_return_address(0));
  places->seen[place - &__executable_start] = 1;
}
