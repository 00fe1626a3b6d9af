// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lets the HDF5 library read a Source instead of opening a path: no file name ever reaches the
// operating system, so links and virtual datasets that point elsewhere find nothing to open.

#include <cstdint>
#include <optional>

#include "core/model/source.hpp"
#include "formats/bytes/hdf5/worker/library.hpp"

namespace ttcheck::formats {

/// A range of the file.
struct Hdf5Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// What one open file and its reader share.
struct Hdf5Medium {
  const Source* file = nullptr;
  /// While true, tensor data is not read: the range that was asked for is kept in `asked`.
  bool locating = false;
  std::optional<Hdf5Extent> asked;
  std::uint64_t end = 0;  ///< of the file, as it says itself: the library reads nothing behind it
};

/// Opens the HDF5 file that `medium` names, read-only. A file that ends before the end it states
/// is refused: the library is not safe on one. REQUIRES that `medium` outlives the handle. Throws
/// Error.
Hdf5Handle open_hdf5(const Hdf5Library& library, Hdf5Medium& medium);

}  // namespace ttcheck::formats
