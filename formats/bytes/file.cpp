// SPDX-License-Identifier: Apache-2.0
// A run may have more files than a process may have descriptors. So the pool holds the most
// recently used ones, at most 64 and at most a quarter of the limit; the file at the end of the
// list gives its own back. A reader holds a shared pointer, so a descriptor that leaves the pool
// meanwhile is closed when that read is over. A file is opened again by the same opener, and must
// then be the same device and inode: otherwise the read is an Error. The lock of the pool is
// recursive, because an opener that finds no descriptor left closes idle ones.
//
// A file may change under the reader. A read that meets the end too early throws; that size,
// times or inode changed is found when `changed` looks again. A read that the system fails is
// tried once more, an interrupted one up to 1000 times in a row. What was opened is remembered as
// long as the process lives, as no output may replace it.

#include "formats/bytes/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <set>
#include <tuple>

#include "core/base/checked.hpp"
#include "core/base/interrupted.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kMaxRepeated = 1000;         // far more than signals come during one read
constexpr std::size_t kMaxOpenFiles = 64;  // or a quarter of what the process may have

std::size_t pool_size() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kMaxOpenFiles;
  }
  return std::clamp<std::size_t>(limit.rlim_cur / 4, 1, kMaxOpenFiles);
}

/// Each file that was opened: no output may replace it. A number may be another file's later, which
/// its time of change tells.
struct Opened {
  using File = std::tuple<dev_t, ino_t, time_t, long>;
  std::mutex mutex;
  std::set<File> files;

  static File of(const struct stat& status) {
    return {status.st_dev, status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
  }

  static Opened& all() {
    static Opened opened;
    return opened;
  }
};

std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace

/// The descriptors that are open, most recently used first.
class OpenFiles {
 public:
  static OpenFiles& pool() {
    static OpenFiles files;
    return files;
  }

  std::shared_ptr<const Descriptor> borrow(const FileSource& file) {
    const std::lock_guard lock(mutex_);
    if (file.descriptor_) {
      if (files_.front() != &file) {
        files_.splice(files_.begin(), files_, std::find(files_.begin(), files_.end(), &file));
      }
      return file.descriptor_;
    }
    make_room();
    file.descriptor_ = file.open_again();
    files_.push_front(&file);
    return file.descriptor_;
  }

  void adopt(const FileSource& file, std::shared_ptr<const Descriptor> descriptor) {
    const std::lock_guard lock(mutex_);
    make_room();
    file.descriptor_ = std::move(descriptor);
    files_.push_front(&file);
  }

  bool close_idle() {
    const std::lock_guard lock(mutex_);
    const std::size_t before = files_.size();
    std::erase_if(files_, [](const FileSource* file) {
      if (file->descriptor_.use_count() > 1) return false;
      file->descriptor_.reset();
      return true;
    });
    return files_.size() < before;
  }

  void forget(const FileSource& file) {
    const std::lock_guard lock(mutex_);
    if (file.descriptor_) files_.remove(&file);
    file.descriptor_.reset();
  }

 private:
  void make_room() {
    while (files_.size() >= limit_) {
      files_.back()->descriptor_.reset();
      files_.pop_back();
    }
  }

  std::recursive_mutex mutex_;  ///< opening a file may have to close others
  std::list<const FileSource*> files_;
  std::size_t limit_ = pool_size();
};

bool was_opened(const struct stat& status) {
  Opened& opened = Opened::all();
  const std::lock_guard hold(opened.mutex);
  return opened.files.contains(Opened::of(status));
}

bool close_idle_files() { return OpenFiles::pool().close_idle(); }

void read_fully(int fd, std::uint64_t offset, std::span<std::byte> out, const std::string& file,
                PreadFunction pread_function) {
  std::size_t done = 0;
  bool failed_before = false;
  int repeated = 0;  // EINTR, one after the other
  while (done < out.size()) {
    const std::uint64_t at = checked_add<std::uint64_t>(offset, done);
    const ssize_t got =
        pread_function(fd, out.data() + done, out.size() - done, checked_cast<off_t>(at));
    if (got > 0) {
      done += static_cast<std::size_t>(got);
      failed_before = false;
      repeated = 0;
    } else if (got == 0) {
      throw Error(fmt::format("file ends at {}, {} more bytes were expected: it shrank while it "
                              "was read",
                              at, out.size() - done),
                  {file, at, {}});
    } else if (errno != EINTR || interrupted() != 0 || ++repeated > kMaxRepeated) {
      if (failed_before || errno == EINTR) {
        throw Error::unable(
            fmt::format("{} bytes cannot be read: {}", out.size() - done, reason(errno)),
            {file, at, {}});
      }
      failed_before = true;
    }
  }
}

FileIdentity FileIdentity::of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim,
          status.st_ctim};
}

std::string FileIdentity::difference(const FileIdentity& now) const {
  if (now.device != device || now.inode != inode) return "it was replaced by another file";
  if (now.size != size) return fmt::format("its size went from {} to {} bytes", size, now.size);
  const auto unlike = [](const timespec& a, const timespec& b) {
    return a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec;
  };
  if (unlike(now.modified, modified)) return "it was modified";
  // A link, a rename or other rights change it, too: whether bytes did cannot be told.
  if (unlike(now.changed, changed)) return "it was touched, and may have been modified";
  return {};
}

FileSource::FileSource(std::string name, Opener opener, std::atomic<std::uint64_t>& counter,
                       std::shared_ptr<ReadErrors> faults, PreadFunction pread_function)
    : name_(std::move(name)),
      opener_(std::move(opener)),
      counter_(counter),
      faults_(std::move(faults)),
      pread_(pread_function != nullptr ? pread_function : &::pread) {
  auto descriptor = std::make_shared<Descriptor>(opener_());
  if (!*descriptor) throw Error::unable("cannot be opened: " + reason(errno), {name_, {}, {}});
  struct stat status{};
  if (fstat(descriptor->get(), &status) != 0) {
    throw Error::unable("cannot be examined: " + reason(errno), {name_, {}, {}});
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(S_ISDIR(status.st_mode) ? "is a directory, a regular file was expected"
                                        : "is no regular file",
                {name_, {}, {}});
  }
  identity_ = FileIdentity::of(status);
  {
    Opened& opened = Opened::all();
    const std::lock_guard hold(opened.mutex);
    opened.files.insert(Opened::of(status));
  }
  OpenFiles::pool().adopt(*this, std::move(descriptor));
}

FileSource::~FileSource() { OpenFiles::pool().forget(*this); }

std::shared_ptr<const Descriptor> FileSource::open_again() const {
  auto descriptor = std::make_shared<Descriptor>(opener_());
  struct stat status{};
  if (!*descriptor || fstat(descriptor->get(), &status) != 0) {
    throw Error::unable("cannot be opened again: " + reason(errno), {name_, {}, {}});
  }
  const FileIdentity now = FileIdentity::of(status);
  if (now.device != identity_.device || now.inode != identity_.inode) {
    throw Error("was replaced by another file while it was read", {name_, {}, {}});
  }
  return descriptor;
}

void FileSource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size())) {
    throw Error(fmt::format("bytes {} to {} are wanted, the file has {}", offset,
                            checked_add<std::uint64_t>(offset, out.size()), size()),
                where(offset));
  }
  if (out.empty()) return;
  try {
    const std::shared_ptr<const Descriptor> descriptor = OpenFiles::pool().borrow(*this);
    read_fully(descriptor->get(), offset, out, name_, pread_);
  } catch (const Error& error) {
    if (faults_) faults_->note(error);
    throw;
  }
  counter_.fetch_add(out.size(), std::memory_order_relaxed);
}

std::string FileSource::changed() const {
  const Descriptor descriptor = opener_();
  struct stat status{};
  if (!descriptor || fstat(descriptor.get(), &status) != 0) {
    return "it can no longer be opened: " + reason(errno);
  }
  return identity_.difference(FileIdentity::of(status));
}

}  // namespace ttcheck::formats
