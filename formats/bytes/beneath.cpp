// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <vector>

namespace ttcheck::formats {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's own limit

std::deque<std::string> components(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return parts;
}

Descriptor failed(int error) {
  errno = error;
  return {};
}

/// Puts the components of the link `fd` before `rest`. False (with errno) when it is absolute.
bool expand_link(int fd, std::deque<std::string>& rest) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = readlinkat(fd, "", target.data(), target.size());
  if (length < 0) return false;
  const std::string_view text(target.data(), static_cast<std::size_t>(length));
  if (text.empty() || text.front() == '/') {
    errno = EXDEV;
    return false;
  }
  std::deque<std::string> parts = components(text);
  rest.insert(rest.begin(), parts.begin(), parts.end());
  return true;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Descriptor open_beneath(int directory, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    fd = syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL)) {
    return walk_beneath(directory, path, flags);
  }
  return Descriptor(static_cast<int>(fd));
}

Descriptor walk_beneath(int directory, const std::string& path, int flags) {
  if (path.starts_with('/')) return failed(EXDEV);
  std::deque<std::string> rest = components(path);
  std::vector<Descriptor> stack;
  stack.emplace_back(openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!stack.back()) return {};
  int links = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.front());
    rest.pop_front();
    if (part == "..") {
      if (stack.size() == 1) return failed(EXDEV);
      stack.pop_back();
      continue;
    }
    Descriptor next(openat(stack.back().get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    if (!next || fstat(next.get(), &status) != 0) return {};
    if (S_ISLNK(status.st_mode)) {
      if (++links > kMaxLinks) return failed(ELOOP);
      if (!expand_link(next.get(), rest)) return {};
      continue;
    }
    if (S_ISDIR(status.st_mode)) {
      stack.push_back(std::move(next));
    } else {
      if (!rest.empty()) return failed(ENOTDIR);
      return Descriptor(openat(stack.back().get(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    }
  }
  return Descriptor(openat(stack.back().get(), ".", flags | O_CLOEXEC));
}

}  // namespace ttcheck::formats
