// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/read_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "core/base/error.hpp"
#include "formats/bytes/beneath.hpp"

namespace ttcheck::formats {
namespace {

/// Reads a file to its end. A pipe that somebody writes to is waited for.
std::string read_open(const Descriptor& file, std::size_t most, const Where& where) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::string text;
  while (text.size() <= most) {
    const std::size_t had = text.size();
    text.resize(had + kBlock);
    const ssize_t got = ::read(file.get(), text.data() + had, kBlock);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    if (got < 0 && errno == EAGAIN) {
      pollfd wait{file.get(), POLLIN, 0};
      ::poll(&wait, 1, -1);
    } else if (got < 0 && errno != EINTR) {
      throw Error(fmt::format("cannot be read: {}", std::strerror(errno)), where);
    }
  }
  if (text.size() > most) throw Error(fmt::format("is larger than {} MiB", most >> 20), where);
  return text;
}

/// What came from pipes, by path: it comes once, and both sides may ask for it.
struct Piped {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
};

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  const Where where{.file = path};
  // A pipe that nobody has open for writing is not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    const Error error(fmt::format("cannot be opened: {}", std::strerror(errno)), where);
    throw missing ? error.because("missing") : error;
  }
  if (S_ISREG(status.st_mode)) return read_open(file, most, where);
  if (!S_ISFIFO(status.st_mode)) throw Error("is neither a file nor a pipe", where);
  static Piped piped;
  const std::lock_guard hold(piped.mutex);
  std::string& text = piped.texts[path];
  if (text.empty()) text = read_open(file, most, where);
  if (text.empty()) throw Error("is a pipe from which nothing came", where);
  return text;
}

}  // namespace ttcheck::formats
