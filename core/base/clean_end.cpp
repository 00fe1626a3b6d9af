// SPDX-License-Identifier: Apache-2.0
#include "core/base/clean_end.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <string_view>

namespace ttcheck {
namespace {

bool is_answered = false;

/// Takes no memory: there may be none.
[[noreturn]] void end_at_once() {
  constexpr std::string_view kWords = "ttcheck: out of memory, or an internal error\n";
  static_cast<void>(!::write(STDERR_FILENO, kWords.data(), kWords.size()));
  ::_exit(kInternal);
}

}  // namespace

void end_with_an_answer() {
  std::set_terminate(end_at_once);
  std::signal(SIGABRT, [](int) { end_at_once(); });
  std::atexit([] {
    if (!is_answered) end_at_once();
  });
}

void answered() { is_answered = true; }

}  // namespace ttcheck
