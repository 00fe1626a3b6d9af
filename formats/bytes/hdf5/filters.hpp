// SPDX-License-Identifier: Apache-2.0
#pragma once
// The filters of an HDF5 chunk, undone: deflate, shuffle, fletcher32 (HDF5 File Format
// Specification, filter pipeline message; ids registered by The HDF Group).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ttcheck::formats {

struct Hdf5Filter {
  int id = 0;
  std::vector<std::uint32_t> parameters;
};

inline constexpr int kDeflateFilter = 1, kShuffleFilter = 2, kFletcherFilter = 3;

/// Why HDF5 undoes one of these filters for nobody: parameters other than it writes (H5Zdeflate.c,
/// H5Zshuffle.c); empty if it undoes all.
std::string refused(std::span<const Hdf5Filter> filters);

/// Why one of these filters cannot be undone here; empty if all can. REQUIRES that none is refused.
std::string unsupported(std::span<const Hdf5Filter> filters);

/// The `size` bytes that `stored` was made of, by `filters` in the order of writing; those whose
/// bit is set in `skipped` were not applied. Memory grows with what really comes out, never past
/// `size` and a checksum. Throws Error when a stage fails or the result has another size.
std::vector<std::byte> undo_filters(std::span<const Hdf5Filter> filters, std::uint32_t skipped,
                                    std::vector<std::byte> stored, std::size_t size);

}  // namespace ttcheck::formats
