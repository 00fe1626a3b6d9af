// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a TorchFile (formats/torch/file.hpp) is made of: storages by key, and the readers of its
// containers.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/name_map.hpp"
#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/piece.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/pickle.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip.hpp"
#include "formats/torch/container.hpp"

namespace ttcheck::formats {

/// The bytes of one storage, or why there are none.
struct TorchStorage {
  const Source* source = nullptr;
  std::uint64_t offset = 0;  ///< of the first byte in the source
  std::uint64_t size = 0;    ///< bytes that are there
  std::string problem;       ///< non-empty: cannot be read, and why
  Where where;
  bool referenced = false;  ///< the value graph names it
};

/// How a storage class counts. `dtype` is none for untyped ones, which count bytes, and for
/// quantised ones, whose `bytes` is that of an element.
struct StorageClass {
  std::optional<DType> dtype;
  std::uint64_t bytes = 1;  ///< of one counted element
  bool quantised = false;
  std::optional<DType> integers;  ///< that a quantised one stores
};

/// A storage's persistent id: ("storage", class, key, location, count[, view]).
struct StorageId {
  StorageClass kind;
  std::string_view key;
  std::string_view location;
  std::int64_t count = 0;
  std::string_view root_key;     ///< of a legacy view: the storage it lies in; else `key`
  std::int64_t root_offset = 0;  ///< of a legacy view: in elements
};

/// A file read, whatever its container.
struct TorchContents {
  const Source* file = nullptr;
  TorchContainer container = TorchContainer::zip;
  std::unique_ptr<Zip> zip;  ///< of zip and script
  std::string saved_as;      ///< of zip and script: the folder that the object lies in
  std::vector<Pickle> pickles;
  std::size_t object = 0;  ///< which of them is the object's
  NameMap<TorchStorage> storages;
  ByteOrder order = ByteOrder::little;
  std::vector<Finding> findings;
  std::uint64_t unclaimed = 0;
  bool code = false;
};

/// The dtype that torch calls so: `float32`, `float8_e4m3fn`.
std::optional<DType> torch_dtype_named(std::string_view name);

/// The dtype that a global such as torch.float8_e4m3fn names. `quantised` and other shell types:
/// none.
std::optional<DType> torch_dtype(Value global);

/// Reads a persistent value as a storage's id, if it is well formed.
std::optional<StorageId> storage_id(Value persistent);

/// Each fills `contents` from its container. They throw Error when there is no such container.
void read_torch_zip(const Source& file, std::uint64_t budget, TorchContents& contents);
void read_torch_legacy(const Source& file, TorchContents& contents);
void read_bare_pickle(const Source& file, TorchContents& contents);

/// Marks the storages that the object names, and says which are missing, misused or left over.
void check_storages(TorchContents& contents);

/// The magic number of the legacy container, in decimal digits: 0x1950a86a20f9469cfc6c.
inline constexpr std::string_view kLegacyMagic = "119547037146038801333356";
inline constexpr std::int64_t kLegacyProtocol = 1001;

}  // namespace ttcheck::formats
