#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/trouble.hpp"

namespace {

/// Memory that was freed is used again rather than given back to the system: of 100,000 tensors the
/// lists of one stage are as large as those of the next, and fresh pages cost more than they hold.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);  // blocks of their own would be given back
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

/// OpenMP's threads spin for milliseconds while they wait for work, and take from each other what
/// they wait for when the machine has other work, too: 600 small steps then take 15 s instead of 1.
/// The library hears of another policy before main alone, so the program starts itself once more,
/// which takes a millisecond; commands that it runs get the environment as it was.
void wait_without_spinning(char** argv) {
  constexpr const char* kPolicy = "OMP_WAIT_POLICY";
  constexpr const char* kMark = "TTCHECK_WAITS";
  if (std::getenv(kMark) != nullptr) {
    ::unsetenv(kMark);
    ::unsetenv(kPolicy);
    return;
  }
  if (std::getenv(kPolicy) != nullptr) return;
  std::error_code missing;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", missing);
  if (missing) return;
  ::setenv(kPolicy, "passive", 1);
  ::setenv(kMark, "1", 1);
  ::execv(self.c_str(), argv);
  ::unsetenv(kMark);  // not started: as slow as ever
  ::unsetenv(kPolicy);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ttcheck::cli;
  wait_without_spinning(argv);
  keep_freed_memory();
  reopen_closed_files();
  watch_signals();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return dispatch(words);
  } catch (...) {
    return report_trouble(words, std::current_exception());
  }
}
