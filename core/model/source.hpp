// SPDX-License-Identifier: Apache-2.0
#pragma once
// What bytes are read from. Sources are made in formats/bytes, owned by the Run; the other rooms
// read bytes through this and know nothing of files.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.hpp"

namespace ttcheck {

/// A run of decoded bytes: a file, a member of an archive, an HDF5 dataset.
class Source {
 public:
  virtual ~Source() = default;

  /// Number of decoded bytes.
  virtual std::uint64_t size() const = 0;

  /// Fills `out` from `offset`. Throws Error that names file and offset when the range is not
  /// within size(), or cannot be read or decoded. Safe to call from several threads.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;

  /// True when reading out of order is dear (a deflate stream): read it front to back, in one go.
  virtual bool sequential() const { return false; }

  /// The place of a decoded byte in the file, as near as the encoding allows.
  virtual Where where(std::uint64_t offset) const = 0;
};

}  // namespace ttcheck
