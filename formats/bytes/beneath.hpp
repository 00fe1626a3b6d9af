// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opening a path below a directory, without ever leaving it: links are followed while they stay
// beneath, absolute links and `..` out of the directory are refused.

#include <string>
#include <string_view>
#include <utility>

namespace ttcheck::formats {

/// A file descriptor that closes itself. -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  void reset();
  int fd_ = -1;
};

/// One relative path of plain components: not empty, no `.`, `..`, NUL or leading slash.
bool is_plain_path(std::string_view path);

/// Opens `path` (relative to `directory`) with `flags`. On failure the descriptor is empty and
/// errno says why; EXDEV: the path leaves the directory. Uses openat2 where the kernel has it.
Descriptor open_beneath(int directory, const std::string& path, int flags);

/// Does what open_beneath does by walking component by component, for kernels without openat2.
Descriptor walk_beneath(int directory, const std::string& path, int flags);

}  // namespace ttcheck::formats
