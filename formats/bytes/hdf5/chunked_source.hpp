// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of a chunked HDF5 dataset as one row-major array, decoded chunk by chunk from ranges of
// the file, without the library: safe from any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/hdf5/filters.hpp"

namespace ttcheck::formats {

/// The place of one chunk; a chunk never written holds the fill value.
struct Hdf5Chunk {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;     ///< stored bytes; 0: never written
  std::uint32_t skipped = 0;  ///< bit i: filter i was not applied
};

struct Hdf5ChunkGrid {
  Shape shape;  ///< of the dataset
  Shape chunk;  ///< of one chunk, each extent >= 1; at the edges stored in full
  std::uint64_t element_size = 1;
  std::vector<std::byte> fill;      ///< one element
  std::vector<Hdf5Filter> filters;  ///< in the order of writing; all of them supported
  std::vector<Hdf5Chunk> chunks;    ///< row-major over the grid
};

/// Most decoded bytes of the chunks that share an index along the first dimension that chunks span
/// (and those before it): row-major reading needs them all at once. Writers make chunks of about 1
/// MiB, so bands of some 20 MiB.
inline constexpr std::uint64_t kMaxChunkBand = std::uint64_t{512} << 20;

/// REQUIRES that the file outlives it, and one chunk for each cell of the grid. All sources
/// together keep four bands of decoded chunks of the one that is being read, at least 64 MiB and at
/// most 1 GiB; reading throws Error where a band is larger than kMaxChunkBand. Throws Error on
/// overflow of the sizes.
std::unique_ptr<Source> chunked_source(const Source& file, std::string name, Hdf5ChunkGrid grid);

}  // namespace ttcheck::formats
