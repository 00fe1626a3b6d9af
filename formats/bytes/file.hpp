// SPDX-License-Identifier: Apache-2.0
#pragma once
// One regular file as a Source: pread, a descriptor borrowed from a bounded pool and reopened by
// path when it was given back, and the identity (size, times, inode) of the first look.

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/model/source.hpp"
#include "formats/bytes/beneath.hpp"
#include "formats/bytes/read_errors.hpp"

namespace ttcheck::formats {

/// A function that does as pread(2); replaced in tests to inject faults.
using PreadFunction = ssize_t (*)(int fd, void* buffer, std::size_t count, off_t offset);

/// Fills `out` from `offset`, through short reads and EINTR, though not when the program is to stop
/// or nothing comes but EINTR; a failed read is tried once more. Throws Error that names `file` and
/// the offset that could not be read; the end of the file comes as "file ends at".
void read_fully(int fd, std::uint64_t offset, std::span<std::byte> out, const std::string& file,
                PreadFunction pread_function);

/// Closes the pool's descriptors that nobody reads through right now; they are opened again when
/// needed. For a process that has no descriptor left. False when there was none.
bool close_idle_files();

/// What is remembered of a file to see later whether it is still the same.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  timespec modified{};
  timespec changed{};  ///< also when a tool has set `modified` back

  static FileIdentity of(const struct stat& status);
  /// Says what is unlike, in words; empty when nothing is.
  std::string difference(const FileIdentity& now) const;
};

/// Tells whether a FileSource of this process has opened it, by whatever name.
bool was_opened(const struct stat& status);

/// Thread-safe. At most kMaxOpenFiles descriptors are open over all FileSources of the process.
class FileSource final : public Source {
 public:
  using Opener = std::function<Descriptor()>;  ///< empty descriptor on failure, errno set

  /// Opens at once. Throws Error when it cannot be opened or is no regular file. `counter` counts
  /// the bytes read and must outlive the source. A read that fails is noted in `faults`, too.
  FileSource(std::string name, Opener opener, std::atomic<std::uint64_t>& counter,
             std::shared_ptr<ReadErrors> faults = nullptr, PreadFunction pread_function = nullptr);
  ~FileSource() override;

  std::uint64_t size() const override { return identity_.size; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  Where where(std::uint64_t offset) const override { return {name_, offset, {}}; }

  /// Looks at the path again: what has changed since the first look, empty when nothing has.
  std::string changed() const;

 private:
  friend class OpenFiles;
  std::shared_ptr<const Descriptor> open_again() const;

  std::string name_;
  Opener opener_;
  std::atomic<std::uint64_t>& counter_;
  std::shared_ptr<ReadErrors> faults_;  ///< null: nobody asks
  PreadFunction pread_;
  FileIdentity identity_;
  mutable std::shared_ptr<const Descriptor> descriptor_;  ///< guarded by the pool's lock
};

}  // namespace ttcheck::formats
