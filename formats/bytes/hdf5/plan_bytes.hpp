// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the HDF5 library says of a file, as plain values: made in a child process, sent over, and
// made into sources by the parent.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/piece.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/hdf5/chunked_source.hpp"

namespace ttcheck::formats {

/// The place of a dataset's bytes: at an offset of the file, in the object header (the bytes), or
/// in chunks, of which `shape` and `element_size` are the dataset's.
using Hdf5Storage = std::variant<std::uint64_t, std::vector<std::byte>, Hdf5ChunkGrid>;

/// Said of links and storage that lead out of a file.
inline constexpr std::string_view kNeverFollowed =
    "HDF5's own links are never followed (--follow-links is for those of the file system): name "
    "that file to read it";

/// The problem of references, and of what holds these or elements of any length: no damage.
inline constexpr std::string_view kNoTensorType =
    "its elements are references, or hold some, or text within more: they are not read";

struct Hdf5Item {
  std::string path;
  std::optional<std::size_t>
      same;  ///< an item before it that is this dataset: only path, text are given
  DType dtype = DType::u8;
  ByteOrder order = ByteOrder::little;
  Shape shape;
  Hdf5Storage storage;
  std::optional<std::string> text;  ///< of the attribute that was asked for
  std::string problem;              ///< why the storage cannot be used
  bool unsupported = false;         ///< nothing says that the file is bad
};

struct Hdf5Note {
  Severity severity = Severity::note;
  std::string path;
  std::string message;
};

struct Hdf5Plan {
  std::vector<Hdf5Item> items;
  std::vector<Hdf5Note> notes;
  std::optional<std::string> definition;
};

/// Write a plan as bytes, and read it back. Reading takes nothing on trust: throws Error on what
/// walk_hdf5 cannot have made, with every number in the range that a chunked source needs.
std::vector<std::byte> to_bytes(const Hdf5Plan& plan);
Hdf5Plan plan_of(std::span<const std::byte> bytes, const Source& file);

}  // namespace ttcheck::formats
