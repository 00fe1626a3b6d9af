// SPDX-License-Identifier: Apache-2.0
#pragma once
// HDF5 datasets whose elements are no numbers and do not lie in the file as they are: text and
// lists of any length, fixed elements in chunks. The library reads them, up to a bound.

#include <cstdint>
#include <vector>

#include "formats/bytes/hdf5/worker/library.hpp"

namespace ttcheck::formats {

/// True for text of any length, and for lists of elements that are their own bytes.
bool is_varying(const Hdf5Library& library, hid_t type);

/// Fixed elements as they are stored, one after another; of varying ones, in eight bytes,
/// little-endian, how many bytes follow, then these. `count` elements of `type` are in `space`.
/// REQUIRES is_varying or holds_itself. Throws Error, one of ours for more than 16 MiB.
std::vector<std::byte> opaque_bytes(const Hdf5Library& library, hid_t dataset, hid_t type,
                                    hid_t space, std::uint64_t count);

}  // namespace ttcheck::formats
