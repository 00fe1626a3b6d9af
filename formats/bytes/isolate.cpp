// SPDX-License-Identifier: Apache-2.0
// The two processes talk over a socket pair. The child asks for bytes (`kRead`, offset, size) and
// is answered with a flag and the bytes, or ends with `kDone` or `kFailed` and its text. Numbers
// are native: both ends are one program.

#include "formats/bytes/isolate.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kPatience = 60'000;                              // ms without a word
constexpr std::uint64_t kMostAnswer = std::uint64_t{1} << 30;  // bytes
constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;  // of the child, bytes
constexpr std::uint64_t kLeastTime = 3, kMostTime = 600;       // of the child's CPU, seconds
constexpr std::uint64_t kBytesPerSecond = 1 << 20;
constexpr std::uint64_t kServedBlock = std::uint64_t{1} << 16;  // read at a time
constexpr std::size_t kKept = 64;                               // blocks that the child keeps

constexpr std::uint64_t kRead = 0, kDone = 1, kFailed = 2;  // first words of a message

/// Owns one end. Sending to and receiving from a peer that is gone throws.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) throw Error("the other process is gone");
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  void receive(std::span<std::byte> bytes, int patience) const {
    while (!bytes.empty()) {
      pollfd waiting{descriptor_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, patience);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) throw Error(fmt::format("it said nothing for {} s", patience / 1000));
      const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Error("the other process is gone");
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }

  void send_number(std::uint64_t value) const { send(std::as_bytes(std::span(&value, 1))); }
  std::uint64_t receive_number(int patience) const {
    std::uint64_t value = 0;
    receive(std::as_writable_bytes(std::span(&value, 1)), patience);
    return value;
  }

 private:
  int descriptor_;
};

/// The file as the child sees it: a block at a time, asked of the parent. The library goes to and
/// fro between a group's tree and its datasets, so some blocks are kept, each at its own place.
class Remote final : public Source {
 public:
  Remote(const Socket& parent, const Source& file)
      : parent_(parent), size_(file.size()), place_(file.where(0)) {}

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!within(offset, out.size(), size_))
      throw Error("read beyond the end of the file", where(offset));
    while (!out.empty()) {
      const std::uint64_t begin = offset / kServedBlock * kServedBlock;
      Kept& kept = kept_[begin / kServedBlock % kKept];
      if (begin != kept.begin || kept.bytes.empty()) fetch(begin, kept);
      const std::span<const std::byte> there =
          std::span(kept.bytes).subspan(static_cast<std::size_t>(offset - begin));
      const std::size_t count = std::min(there.size(), out.size());
      std::memcpy(out.data(), there.data(), count);
      offset += count;
      out = out.subspan(count);
    }
  }

  Where where(std::uint64_t offset) const override { return {place_.file, offset, place_.object}; }

 private:
  struct Kept {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  void fetch(std::uint64_t begin, Kept& kept) const {
    kept.bytes.assign(static_cast<std::size_t>(std::min(kServedBlock, size_ - begin)),
                      std::byte{0});
    kept.begin = begin;
    parent_.send_number(kRead);
    parent_.send_number(begin);
    parent_.send_number(kept.bytes.size());
    if (parent_.receive_number(-1) == 0) {
      kept.bytes.clear();
      throw Error("the file cannot be read", where(begin));
    }
    parent_.receive(kept.bytes, -1);
  }

  const Socket& parent_;
  std::uint64_t size_;
  Where place_;
  mutable std::array<Kept, kKept> kept_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kShadowed = true;  // sanitizers map more than any limit
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kShadowed = true;
#else
constexpr bool kShadowed = false;
#endif
#else
constexpr bool kShadowed = false;
#endif

/// A library that runs in circles on a damaged file is ended by its CPU time, which does not depend
/// on how busy the machine is.
void confine(std::uint64_t file_size) {
  const rlim_t seconds = kLeastTime + std::min(file_size / kBytesPerSecond, kMostTime);
  const rlimit none{0, 0}, memory{kMostMemory, kMostMemory}, time{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_CPU, &time);
  if (!kShadowed) ::setrlimit(RLIMIT_DATA, &memory);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGXCPU}) {
    std::signal(signal, SIG_DFL);
  }
}

[[noreturn]] void be_child(const Socket& parent, const Source& file,
                           const std::function<std::vector<std::byte>(const Source&)>& body) {
  confine(file.size());
  try {
    std::uint64_t word = kDone;
    std::vector<std::byte> answer;
    try {
      answer = body(Remote(parent, file));
    } catch (const Error& error) {
      word = kFailed;
      const auto text = std::as_bytes(std::span(error.message()));
      answer.assign(text.begin(), text.end());
    }
    parent.send_number(word);
    parent.send_number(answer.size());
    parent.send(answer);
    ::_exit(0);
  } catch (...) {
    ::_exit(1);  // out of memory, or the parent is gone
  }
}

/// Answers the child's reads until it is done.
std::vector<std::byte> serve(const Socket& child, const Source& file) {
  std::vector<std::byte> bytes;
  for (;;) {
    const std::uint64_t word = child.receive_number(kPatience);
    if (word == kRead) {
      const std::uint64_t offset = child.receive_number(kPatience),
                          size = child.receive_number(kPatience);
      if (size > kServedBlock || !within(offset, size, file.size()))
        throw Error("it asked for bytes beyond the file");
      bytes.resize(static_cast<std::size_t>(size));
      file.read(offset, bytes);
      child.send_number(1);
      child.send(bytes);
      continue;
    }
    const std::uint64_t size = child.receive_number(kPatience);
    if ((word != kDone && word != kFailed) || size > kMostAnswer)
      throw Error("its answer makes no sense");
    bytes.clear();
    while (bytes.size() < size) {  // grows with what really comes
      const std::size_t had = bytes.size();
      bytes.resize(
          had + static_cast<std::size_t>(std::min<std::uint64_t>(kServedBlock * 16, size - had)));
      child.receive(std::span(bytes).subspan(had), kPatience);
    }
    if (word == kDone) return bytes;
    throw Error(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                file.where(0));
  }
}

struct Child {
  pid_t process;
  std::unique_ptr<Socket> socket;
};

/// One start at a time: a child forked in between would hold the other's end open. A later child
/// does hold our end, so an earlier one learns of our death only after it.
Child start(const Source& file, const std::function<std::vector<std::byte>(const Source&)>& body) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(fmt::format("no socket pair: {}", std::strerror(errno)), file.where(0));
  }
  auto mine = std::make_unique<Socket>(ends[0]);
  const Socket its(ends[1]);
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(fmt::format("no child process: {}", std::strerror(errno)), file.where(0));
  if (child == 0) {
    mine.reset();
    be_child(its, file, body);
  }
  return {child, std::move(mine)};
}

/// Ends the child and says how it ended; empty when it left by itself.
std::string end_of(pid_t child) {
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? "it ran out of memory" : "";
}

}  // namespace

std::vector<std::byte> in_child(const Source& file,
                                const std::function<std::vector<std::byte>(const Source&)>& body) {
  auto [child, mine] = start(file, body);
  try {
    std::vector<std::byte> answer = serve(*mine, file);
    static_cast<void>(end_of(child));
    return answer;
  } catch (const Error& error) {
    if (error.where().file == file.where(0).file) {  // the body's, or ours of reading
      static_cast<void>(end_of(child));
      throw;
    }
    mine.reset();
    const std::string end = end_of(child);
    throw Error(
        fmt::format("the process that parsed it ended: {}", end.empty() ? error.message() : end),
        file.where(0));
  }
}

}  // namespace ttcheck::formats
