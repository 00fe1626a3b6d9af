// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of a file its own tables may claim. Entries that share bytes cost nothing on disk, and
// as much as any others to read and to unpack: a megabyte of an archive can stand for hours of
// work.

#include <cstdint>
#include <limits>

namespace ttcheck::formats {

/// Of a file, or a part of one, of so many bytes: entries may claim them twice, all together. That
/// is never asked of entries that share nothing, and lets two that are damaged be told apart.
class ClaimedBytes {
 public:
  static constexpr std::uint64_t kTimes = 2;

  explicit ClaimedBytes(std::uint64_t size)
      : left_(size > std::numeric_limits<std::uint64_t>::max() / kTimes
                  ? std::numeric_limits<std::uint64_t>::max()
                  : kTimes * size) {}

  /// False where that would be more; then nothing is taken.
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  std::uint64_t left_;
};

}  // namespace ttcheck::formats
