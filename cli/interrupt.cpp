#include "cli/interrupt.hpp"

#include <fmt/format.h>

#include <atomic>
#include <csignal>

namespace ttcheck::cli {
namespace {

std::atomic<int> came{0};
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler may touch nothing else

void note_signal(int signal) { came.store(signal); }

}  // namespace

Interrupted::Interrupted(int signal)
    : Error(fmt::format("interrupted by signal {}; what follows is what was known by then",
                        signal)) {}

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second one kills
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);  // a report over the file size limit fails with EFBIG
}

int interrupted() { return came.load(); }

void stop_if_interrupted() {
  if (const int signal = interrupted()) throw Interrupted(signal);
}

}  // namespace ttcheck::cli
