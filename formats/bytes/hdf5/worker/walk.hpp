// SPDX-License-Identifier: Apache-2.0
#pragma once
// All groups of an HDF5 file, walked with the library: run in a child process.

#include <string_view>

#include "core/model/source.hpp"
#include "formats/bytes/hdf5/plan_bytes.hpp"

namespace ttcheck::formats {

/// Walks all groups of `file` with the library. Throws Error when it is not readable as HDF5.
Hdf5Plan walk_hdf5(const Source& file, std::string_view attribute);

}  // namespace ttcheck::formats
