// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tree that the user named, and the only one that may be opened. Every path a file mentions
// goes through here.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/finding.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

enum class EntryKind : std::uint8_t { file, directory, other };

struct Entry {
  std::string path;  ///< relative to the root, with `/`
  EntryKind kind = EntryKind::file;
  std::uint64_t size = 0;
};

/// A file as a Source: pread, one descriptor from a bounded pool, regular files only. Remembers
/// size, mtime and inode of its first look.
class Root {
 public:
  /// `path` is a directory or a file as the user typed it. Throws Error when it cannot be opened or
  /// is neither. Links are followed while they stay inside the root or the hub cache it belongs to.
  Root(const std::string& path, bool follow_links);
  ~Root();
  Root(Root&&) noexcept;

  /// Opens the directory or file `path` below as a root of its own: same boundary for links, bytes
  /// counted and faults noted here too. Throws Error as the constructor does. REQUIRES that this
  /// Root outlives it.
  Root below(std::string_view path) const;

  /// Opens a root as below() does to see what is there, which may be no part of the run: its links
  /// that cannot be followed are not noted.
  Root glance(std::string_view path) const;

  /// Gives device and inode of the directory: the same by whatever links it was come to. Throws
  /// Error where it cannot be opened or examined, which is noted.
  std::pair<std::uint64_t, std::uint64_t> place() const;

  const std::string& given() const;  ///< as typed
  bool is_file() const;
  std::string file_name() const;  ///< of a single file: its name; empty for a directory

  /// Lists all below `under` (relative; "" is the root), sorted bytewise, at most `depth` levels.
  /// Throws Error when `under` cannot be listed; directories below it that cannot are noted.
  std::vector<Entry> list(std::string_view under = "", int depth = 1) const;

  /// Says what `path` is: none where nothing is; what cannot be looked at or followed is `other`.
  std::optional<Entry> entry(std::string_view path) const;

  /// Opens the file as a source that lives as long as this Root. Throws Error for a path that
  /// leaves the root (TT501 material), is missing, or is no regular file. Same path, same source.
  const Source& file(std::string_view path) const;

  /// Reads the whole of a small file. Throws Error when it is larger than `limit` bytes.
  std::string text(std::string_view path, std::uint64_t limit) const;

  std::uint64_t bytes_read() const;

  /// Takes what here and below could not be opened, followed, looked at or read since the last
  /// call, whether or not that was told to who asked for it. By name; each file once.
  std::vector<Error> take_faults() const;

  /// Finds files whose size, mtime or inode is no longer what it was: one finding each.
  std::vector<Finding> changed() const;

 private:
  struct State;
  explicit Root(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Tells whether what is at `path` was opened as a file of a Root since the program began, by
/// whatever name.
bool was_opened(const std::string& path);

}  // namespace ttcheck::formats
