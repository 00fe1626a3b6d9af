// SPDX-License-Identifier: Apache-2.0
#include "cli/step_predicate.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "formats/sandbox/broker.hpp"

namespace ttcheck::cli {
namespace {

constexpr int kSkip = 125;
constexpr int kLargestBad = 127;

/// The command gets what this program was started with: --max-memory and the signals that it
/// ignores are its own.
void restore_surroundings() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
}

/// Waits through signals, which go to the command as well.
int exit_status(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(fmt::format("--run: {}", std::strerror(errno)));
  }
  return status;
}

}  // namespace

int run_predicate(std::string_view step, const Options& options) {
  if (step.find_first_not_of("-0123456789") != std::string_view::npos) throw Error("no step");
  const std::string number(step);
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("--run: {}", std::strerror(errno)));
  if (child == 0) {
    ::setenv("TTCHECK_STEP", number.c_str(), 1);
    ::setenv("TTCHECK_REFERENCE", options.words.at(0).c_str(), 1);
    ::setenv("TTCHECK_CANDIDATE", options.words.at(1).c_str(), 1);
    restore_surroundings();
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the report's
    ::execl("/bin/sh", "sh", "-c", options.run.c_str(), "sh", number.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(kLargestBad + 1);
  }
  return exit_status(child);
}

bisect::Mark mark_by_command(const StepPair& step, const Options& options) {
  const std::string number = step.step ? fmt::format("{}", *step.step) : "-";
  const int status = formats::is_apart()
                         ? static_cast<int>(formats::run_errand(kRunning, 0, number))
                         : run_predicate(number, options);
  if (!WIFEXITED(status)) {
    throw Error(fmt::format("--run: the command was ended by signal {} at step {}",
                            WTERMSIG(status), number));
  }
  const int code = WEXITSTATUS(status);
  if (code == 0) return bisect::Mark::good;
  if (code == kSkip) return bisect::Mark::skip;
  if (code <= kLargestBad) return bisect::Mark::bad;
  throw Error(fmt::format("--run: expected exit code 0 to 127, got {} at step {}", code, number));
}

}  // namespace ttcheck::cli
