// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/replace_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "formats/bytes/write_all.hpp"

namespace ttcheck::formats {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view doing, int fault) {
  throw Error(fmt::format("cannot {} report: {}", doing, std::strerror(fault)), {.file = path});
}

constexpr std::string_view kPart = ".part";
constexpr mode_t kMode = 0644;

std::string directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

/// Removes what runs that were killed left beside `path`: parts that nobody holds the lock of.
void remove_stale_parts(const std::string& path) {
  const std::string directory = directory_of(path);
  const std::string name = std::filesystem::path(path).filename().string();
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), &::closedir);
  if (!stream) return;
  while (const dirent* item = ::readdir(stream.get())) {
    const std::string_view entry = item->d_name;
    if (!entry.starts_with(name + ".") || !entry.ends_with(kPart)) continue;
    const std::string_view number =
        entry.substr(name.size() + 1, entry.size() - name.size() - 1 - kPart.size());
    if (number.empty() || number.find_first_not_of("0123456789-") != std::string_view::npos) {
      continue;
    }
    const int folder = ::dirfd(stream.get());
    const int file = ::openat(folder, item->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, item->d_name, 0);
    ::close(file);
  }
}

/// A file without a name, or, where the file system has none, with the name of a part, which is
/// gone unless it came to its place.
class NewFile {
 public:
  NewFile(std::string path, std::optional<mode_t> mode) : path_(std::move(path)) {
    file_ = ::open(directory_of(path_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode);
    if (file_ < 0) file_ = create_part();
    if (file_ < 0) fail(path_, "create", errno);
    if (mode) ::fchmod(file_, *mode);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!part_.empty()) ::unlink(part_.c_str());
  }

  void fill_and_place(std::string_view text) {
    fill(text);
    if (part_.empty()) link_part(text);
    if (::rename(part_.c_str(), path_.c_str()) != 0) fail(path_, "place", errno);
    part_.clear();
    ::close(std::exchange(file_, -1));  // what was synced is not lost by it
  }

 private:
  void fill(std::string_view text) {
    if (const int fault = write_all(file_, text)) fail(path_, "write", fault);
    if (::fsync(file_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(path_, "write", errno);
  }

  std::string name_part(int attempt) const {
    return fmt::format("{}.{}-{}{}", path_, ::getpid(), attempt, kPart);
  }

  int create_part() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string name = name_part(attempt);
      const int file =
          ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
      if (file >= 0) {
        static_cast<void>(::flock(file, LOCK_EX | LOCK_NB));  // it is not stale
        part_ = name;
        return file;
      }
      if (errno != EEXIST) break;
    }
    return -1;
  }

  /// Gives the file a name for the moment until it is renamed: a link replaces nothing.
  void link_part(std::string_view text) {
    static_cast<void>(::flock(file_, LOCK_EX | LOCK_NB));
    const std::string self = fmt::format("/proc/self/fd/{}", file_);
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::string name = name_part(attempt);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        part_ = name;
        return;
      }
      if (errno != EEXIST) break;
    }
    // Without /proc, or on a file system that has files without names and no links.
    struct stat status{};
    const bool known = ::fstat(file_, &status) == 0;
    ::close(std::exchange(file_, create_part()));
    if (file_ < 0) fail(path_, "create", errno);
    if (known) ::fchmod(file_, status.st_mode & 07777);
    fill(text);
  }

  std::string path_, part_;  ///< part: the name that it has now; empty: none
  int file_ = -1;
};

}  // namespace

void replace_file(const std::string& path, std::string_view text) {
  struct stat there{};
  const bool exists = ::lstat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    throw Error(S_ISLNK(there.st_mode) ? "refusing to write a report through a symbolic link"
                                       : "refusing to write a report over what is no regular file",
                {.file = path});
  }
  remove_stale_parts(path);
  const auto mode = exists ? std::optional<mode_t>(there.st_mode & 07777) : std::nullopt;
  NewFile(path, mode).fill_and_place(text);
}

}  // namespace ttcheck::formats
