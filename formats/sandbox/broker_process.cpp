// SPDX-License-Identifier: Apache-2.0
// One loop over what may happen: a request, a worker that has ended, a worker that nobody waits for
// any more. SIGCHLD interrupts the waiting and nothing else, so none is missed.

#include "formats/sandbox/broker_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "formats/sandbox/worker.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMostName = std::uint64_t{1} << 20;

struct Working {
  pid_t process;
  Channel control;
  bool abandoned = false;
};

void nothing(int) {}

/// Signals that ask a program to stop go to its whole group; the broker ends with who asks it.
void outlive_signals() {
  struct sigaction action{};
  action.sa_handler = nothing;  // unlike ignoring, not passed on to what an errand runs
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGXCPU, SIGCHLD}) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
}

class Service {
 public:
  Service(Channel asking, const std::vector<Errand>& errands)
      : asking_(std::move(asking)), errands_(errands) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &open_);
  }

  /// Throws Error when who asks is gone.
  void serve_one() {
    reap();
    std::vector<pollfd> waiting{{asking_.descriptor(), POLLIN, 0}};
    for (const Working& one : working_) {
      waiting.push_back({one.abandoned ? -1 : one.control.descriptor(), POLLIN, 0});
    }
    if (::ppoll(waiting.data(), waiting.size(), nullptr, &open_) < 0) return;
    for (std::size_t i = 0; i < working_.size(); ++i) {
      if (waiting[i + 1].revents == 0) continue;
      ::kill(working_[i].process, SIGKILL);
      working_[i].abandoned = true;
    }
    if (waiting[0].revents == 0) return;
    const std::uint64_t word = asking_.receive_number();
    if (word == kErrand) return run();
    if (word == kWork) return start();
    throw Error("it asks for what there is not");
  }

 private:
  void reap() {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto one = std::ranges::find(working_, ended, &Working::process);
      if (one == working_.end()) continue;
      static_cast<void>(
          caught([&] { one->control.send_number(static_cast<std::uint64_t>(status)); }));
      working_.erase(one);
    }
  }

  void run() {
    const std::uint64_t which = asking_.receive_number(), number = asking_.receive_number();
    const std::string text = asking_.receive_text(std::numeric_limits<std::uint64_t>::max());
    if (which >= errands_.size()) throw Error("it asks for what there is not");
    std::uint64_t answer = 0;
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, &open_, &blocked);  // what it runs gets what the program got
    const std::optional<Error> error = caught([&] { answer = errands_[which](number, text); });
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
    asking_.send_number(error ? kErrandFailed : kErrandDone);
    if (!error) return asking_.send_number(answer);
    asking_.send_number(error->is_unable() ? 1 : 0);
    asking_.send_text(error->message());
    asking_.send_text(error->where().file);
    asking_.send_text(error->where().object);
    asking_.send_text(error->reason());
  }

  void start() {
    WorkerTask work;
    work.parser = asking_.receive_number();
    work.file_size = asking_.receive_number();
    work.place.file = asking_.receive_text(kMostName);
    work.place.object = asking_.receive_text(kMostName);
    work.argument = asking_.receive_text(kMostName);
    const Channel data = asking_.receive_channel();
    Channel control = asking_.receive_channel();
    if (const std::optional<Error> error = caught([&] { load_parser(work.parser); })) {
      static_cast<void>(caught([&] { say_failed(data, *error); }));
      return;
    }
    const pid_t broker = ::getpid(), child = ::fork();
    if (child == 0) be_worker(data, work, broker);
    if (child > 0) return working_.push_back({child, std::move(control)});
    const Error error(fmt::format("no child process: {}", std::strerror(errno)));
    static_cast<void>(caught([&] { say_failed(data, error); }));
  }

  Channel asking_;
  const std::vector<Errand>& errands_;
  std::vector<Working> working_;
  sigset_t open_{};  ///< signals that the program was started with
};

}  // namespace

void serve_as_broker(Channel asking, const std::vector<Errand>& errands) {
  outlive_signals();
  try {
    Service service(std::move(asking), errands);
    for (;;) service.serve_one();
  } catch (...) {
    ::_exit(0);  // who asks is gone, or out of memory
  }
}

}  // namespace ttcheck::formats
