// SPDX-License-Identifier: Apache-2.0
#pragma once
// The structure of an HDF5 file, read once: its datasets, where their bytes lie, and the text
// attributes that were asked for. After that the file is read like any other, by ranges.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/piece.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Fixed text, compounds and numbers of unknown formats are bytes (u8), with a last dimension of an
/// element's size; text and lists of any length are bytes, one behind the other, each behind its
/// size in eight bytes. References, and what holds these or elements of any length, have a problem.
struct Hdf5Dataset {
  std::string path;  ///< from the root group, without the leading `/`
  DType dtype = DType::u8;
  ByteOrder order = ByteOrder::little;
  Shape shape;
  const Source* source = nullptr;   ///< the file, or a decoder of it; null with `problem`
  std::uint64_t offset = 0;         ///< of element 0 in the source; row-major from there
  std::optional<std::string> text;  ///< the attribute that was asked for
  std::string problem;       ///< why it cannot be read (unsupported, outside of the file, damaged)
  bool unsupported = false;  ///< the problem is ours: nothing says that the file is bad
};

struct Hdf5Contents {
  std::vector<Hdf5Dataset> datasets;  ///< by group, names ascending; one for each hard or soft link
  std::vector<Finding> findings;      ///< links that lead out of the file or nowhere
  std::vector<std::unique_ptr<Source>> sources;
  std::optional<std::string> definition;  ///< the root group's `model_config`: Keras keeps it there
};

/// Reads the structure of `file`; `attribute` names a string attribute of datasets, of fixed or
/// variable length (none: no attribute is looked at). External links, external storage and virtual
/// datasets are named in findings or `problem` and never opened; a group is walked and a dataset
/// read once however many links lead to it. REQUIRES that the file outlives the contents. Throws
/// Error when the file as a whole cannot be read.
Hdf5Contents read_hdf5(const Source& file, std::string_view attribute);

/// True when `head`, the start of a file, has the signature at 0, 512, 1024, ... as far as it goes.
bool looks_like_hdf5(std::span<const std::byte> head);

}  // namespace ttcheck::formats
