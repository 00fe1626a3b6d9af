#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace ttcheck::cli {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view doing, int fault) {
  throw Error(fmt::format("cannot {} report: {}", doing, std::strerror(fault)), {.file = path});
}

/// 0, or the errno of the write that failed.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// A file that is gone unless it was renamed to its place.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {
    for (int attempt = 0; file_ < 0 && attempt < 100; ++attempt) {
      beside_ = fmt::format("{}.{}-{}.part", path_, ::getpid(), attempt);
      file_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) fail(path_, "create", errno);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!placed_) ::unlink(beside_.c_str());
  }

  void fill_and_place(std::string_view text) {
    if (const int fault = write_all(file_, text)) fail(path_, "write", fault);
    if (::fsync(file_) != 0 && errno != EINVAL && errno != ENOTSUP) fail(path_, "write", errno);
    if (::close(std::exchange(file_, -1)) != 0) fail(path_, "write", errno);
    if (::rename(beside_.c_str(), path_.c_str()) != 0) fail(path_, "place", errno);
    placed_ = true;
  }

 private:
  std::string path_, beside_;
  int file_ = -1;
  bool placed_ = false;
};

}  // namespace

void reopen_closed_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free number is this one, since those below it are open. Write-only stdin and
      // read-only stdout: using them is then an error and not silence.
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

void write_stdout(std::string_view text) {
  const int fault = write_all(STDOUT_FILENO, text);
  if (fault != 0 && fault != EPIPE) fail("stdout", "write", fault);
}

void write_stderr(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

void write_report(const std::string& path, std::string_view text) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    throw Error(S_ISLNK(there.st_mode) ? "refusing to write a report through a symbolic link"
                                       : "refusing to write a report over what is no regular file",
                {.file = path});
  }
  NewFile(path).fill_and_place(text);
}

}  // namespace ttcheck::cli
