// SPDX-License-Identifier: Apache-2.0
#pragma once
// An array of the zarr format, version 2 (zarr-specs.readthedocs.io, v2/v2.0): a directory with
// `.zarray`, which says shape, type and grid, and a file for each chunk of the grid, named by its
// indices (`0.1.2`). A chunk at the edge is stored whole, with padding. Uncompressed ones are read.

#include <string>
#include <vector>

#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/piece.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

inline constexpr std::string_view kZarrArray = ".zarray";

struct ZarrChunk {
  Extents lo;
  Shape shape;  ///< without the padding
  Piece piece;  ///< of the whole chunk: element 0, no cells
};

struct ZarrArray {
  DType dtype = DType::f32;
  Shape shape;
  Shape chunk;  ///< of each, padding included
  Where where;
  std::vector<ZarrChunk> chunks;  ///< that are there, by the names of their files
  std::vector<Finding> findings;
  std::vector<std::string> rest;  ///< paths of what is no chunk
  std::uint64_t rest_bytes = 0;
};

/// Reads the array in `directory` below `root`, which must outlive it. Throws Error for a table
/// that is none, and for what is stored in another way. A chunk that is not there is a finding: its
/// elements are undefined when the table has no fill_value, and that value otherwise.
ZarrArray read_zarr_array(const Root& root, const std::string& directory);

}  // namespace ttcheck::formats
