// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/broker.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/require.hpp"

namespace ttcheck::formats {
namespace {

/// The running broker. Ends it, and waits for that: no process is left behind.
class Broker {
 public:
  Broker(pid_t process, Channel channel) : process_(process), channel_(std::move(channel)) {}
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;
  ~Broker() {
    channel_ = Channel();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  const Channel& channel() const { return channel_; }

 private:
  pid_t process_;
  Channel channel_;
};

struct Apart {
  std::mutex mutex;  ///< one request at a time
  std::vector<Errand> errands;
  std::unique_ptr<Broker> broker;
};

Apart& apart() {
  static Apart one;
  return one;
}

/// What is wrong where no broker was started; empty where one was. Throws Error, too.
std::string start_broker(Apart& here) {
  auto [mine, its] = Channel::pair();
  const pid_t child = ::fork();
  if (child < 0) return std::strerror(errno);
  if (child == 0) {
    mine = Channel();
    serve_as_broker(std::move(its), here.errands);
  }
  here.broker = std::make_unique<Broker>(child, std::move(mine));
  return {};
}

Error error_from(const Channel& channel) {
  constexpr std::uint64_t kMost = 1 << 20;
  const bool unable = channel.receive_number() != 0;
  std::string message = channel.receive_text(kMost);
  Where where;
  where.file = channel.receive_text(kMost);
  where.object = channel.receive_text(kMost);
  const std::string reason = channel.receive_text(kMost);
  const Error error = unable ? Error::unable(std::move(message), std::move(where))
                             : Error(std::move(message), std::move(where));
  return error.because(reason);
}

}  // namespace

bool set_apart(std::vector<Errand> errands) {
  Apart& here = apart();
  const std::lock_guard lock(here.mutex);
  here.broker.reset();  // one that is forked would hold its channel open
  here.errands = std::move(errands);
  bool started = false;
  static_cast<void>(caught([&] { started = start_broker(here).empty(); }));
  return started;
}

bool is_apart() {
  Apart& here = apart();
  const std::lock_guard lock(here.mutex);
  return here.broker != nullptr;
}

std::uint64_t run_errand(std::size_t which, std::uint64_t number, std::string_view text) {
  Apart& here = apart();
  const std::lock_guard lock(here.mutex);
  require(here.broker != nullptr, "an errand is for a broker");
  const Channel& channel = here.broker->channel();
  channel.send_number(kErrand);
  channel.send_number(which);
  channel.send_number(number);
  channel.send_text(text);
  if (channel.receive_number() == kErrandFailed) throw error_from(channel);
  return channel.receive_number();
}

WorkerEnds start_worker(const WorkerParser& parser, const Source& file, std::string_view argument) {
  Apart& here = apart();
  const std::lock_guard lock(here.mutex);
  if (!here.broker) {
    const std::string why = start_broker(here);
    if (!why.empty()) throw Error(fmt::format("no child process: {}", why));
  }
  auto [data, its_data] = Channel::pair();
  auto [control, its_control] = Channel::pair();
  const Channel& channel = here.broker->channel();
  const Where place = file.where(0);
  channel.send_number(kWork);
  channel.send_number(parser.number());
  channel.send_number(file.size());
  channel.send_text(place.file);
  channel.send_text(place.object);
  channel.send_text(argument);
  channel.send_channel(its_data);
  channel.send_channel(its_control);
  return {std::move(data), std::move(control)};
}

}  // namespace ttcheck::formats
