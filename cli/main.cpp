// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/trouble.hpp"
#include "core/base/clean_end.hpp"
#include "core/base/library_path.hpp"
#include "core/base/parallel.hpp"

namespace {

/// Memory that was freed is used again rather than given back to the system: of 100,000 tensors the
/// lists of one stage are as large as those of the next, and fresh pages cost more than they hold.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);  // blocks of their own would be given back
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

/// Before anything that is made before main.
[[gnu::constructor(101)]] void begin() { ttcheck::end_with_an_answer(); }

}  // namespace

/// Libraries that ask for memory in this way do not look whether they got it: who gets none ends.
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return ::operator new[](size);
}

int main(int argc, char** argv) {
  using namespace ttcheck::cli;
  ttcheck::restore_environment();
  ttcheck::leave_relative_libraries(argv);
  keep_freed_memory();
  reopen_closed_files();
  watch_signals();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  int code = 0;
  try {
    code = dispatch(words);
  } catch (...) {
    code = report_trouble(words, std::current_exception());
  }
  ttcheck::answered();
  return code;
}
