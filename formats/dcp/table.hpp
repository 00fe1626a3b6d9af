// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of a PyTorch distributed checkpoint as plain structs: what was saved under which key,
// in which chunks, and where the bytes of each lie; names are left as they stand.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::formats {

/// Number of dimensions that a tensor may have (c10::kMaxDims is 64).
inline constexpr std::size_t kMaxDcpDims = 64;

/// The place where an item's bytes lie, as stored (before the transforms are undone).
struct DcpPlace {
  std::uint32_t file = 0;        ///< index in `files`
  std::uint32_t transforms = 0;  ///< index in `transforms`
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct DcpChunk {
  Extents offsets;
  Shape sizes;
  std::optional<DcpPlace> place;  ///< none: the table does not say where it is
};

struct DcpTensor {
  std::string name;
  std::optional<DType> dtype;  ///< none: of a type that is no plain number here
  std::string dtype_name;      ///< as torch spells it
  Shape size;
  std::vector<DcpChunk> chunks;
};

/// A value that is no tensor.
struct DcpItem {
  std::string name;
  std::optional<DcpPlace> place;
};

/// A key and the way to its value in the nested state that was saved; numbers as text.
struct DcpPath {
  std::string name;
  std::vector<std::string> parts;
};

/// What Megatron adds of one key: shapes by field.
struct DcpExtra {
  std::string name;
  std::vector<std::pair<std::string, Shape>> shapes;
};

struct DcpMetadata {
  std::vector<DcpTensor> tensors;  ///< in the order of the table
  std::vector<DcpItem> items;
  std::vector<std::string> files;  ///< paths beside the table, as stated: may be anything
  std::vector<std::vector<std::string>> transforms;  ///< in decoding order; the first is none
  std::vector<DcpPath> paths;                        ///< `planner_data`; empty: there is none
  std::vector<DcpExtra> extras;                      ///< `mcore_data`
  std::string version;                               ///< empty: not stated
  Where where;
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;  ///< entries that could not be understood
};

}  // namespace ttcheck::formats
