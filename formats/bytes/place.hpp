// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where on the disk a path leads, whatever names or links it goes by.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ttcheck::formats {

/// A file or directory itself.
struct DiskPlace {
  dev_t device;
  ino_t inode;
  bool directory;

  bool operator==(const DiskPlace&) const = default;
};

/// None where nothing is at `path`.
std::optional<DiskPlace> place_of(const std::string& path);

/// Whether a directory above what is at `path` is `run`.
bool lies_in(const std::string& path, const DiskPlace& run);

/// Bytes of the regular files at a path and below it; links are not followed.
std::uint64_t bytes_below(const std::string& path);

}  // namespace ttcheck::formats
