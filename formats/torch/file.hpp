// SPDX-License-Identifier: Apache-2.0
#pragma once
// One file that torch.save, torch.jit.save or a plain pickle wrote: the value graph of its object
// and the storages beside it. What the values are called, and which run they belong to, is for the
// formats that read such files: plain torch files, shards, rank files, items within a bigger file.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/piece.hpp"
#include "core/model/record.hpp"
#include "formats/bytes/pickle.hpp"
#include "formats/readers/bid.hpp"
#include "formats/torch/container.hpp"

namespace ttcheck::formats {

/// A tensor of the value graph.
struct TorchTensor {
  std::string opaque;  ///< for one that is no plain strided array: what it is ("sparse",
                       ///< "quantised", "meta"...); then nothing below but `shape` may be set
  DType dtype = DType::f32;
  Shape shape;          ///< counts elements, of packed 4-bit types too
  Piece piece;          ///< rank and value flags set where known; bounds are checked
  std::string storage;  ///< the storage's key: tensors of one key share bytes
};

/// The tensor as the array of a rank, under its canonical name; nothing says yet where it lies.
Record record_of(std::string name, const TorchTensor& tensor, std::int32_t rank = kNoRank);

struct TorchContents;  // formats/torch/storages.hpp

/// A file read. Move-only; Values, Pieces and Sources refer into it, and it into `file`.
class TorchFile {
 public:
  ~TorchFile();
  TorchFile(TorchFile&&) noexcept;

  TorchContainer container() const;
  const Pickle& pickle() const;
  std::uint64_t size() const;  ///< of the file, in bytes
  Value root() const { return pickle().root(); }

  /// True for a value that rebuilds a tensor, a Parameter or a subclass of one.
  static bool is_tensor(Value value);
  /// Whether its storage is an archive of its own within the pickle, as pickle.dump writes it.
  /// REQUIRES is_tensor.
  static bool is_dumped(Value value);
  /// The tensor that the value rebuilds, wrappers (Parameter, subclass) taken off. Throws Error
  /// that names the place when a storage is missing or short, or a view leaves it. REQUIRES
  /// is_tensor. `integers`: of a quantised tensor the numbers that it stores.
  TorchTensor tensor(Value value, bool integers = false) const;

  /// What is odd or damaged about the file as a whole. Does not hold what tensor() throws.
  const std::vector<Finding>& findings() const;
  std::uint64_t unclaimed() const;  ///< bytes that belong to nothing
  bool has_code() const;            ///< a TorchScript archive's `code/`, or a module's source text
  /// The name, up to its last dot, of the file that the archive was written to: its folder's
  /// (caffe2/serialize/inline_container.cc, archive_name_). `archive` for one that was written to
  /// a stream; empty for other containers.
  const std::string& saved_as() const;

 private:
  friend TorchFile read_torch(const Source& file, std::uint64_t budget);
  explicit TorchFile(std::unique_ptr<TorchContents> contents);
  std::unique_ptr<TorchContents> contents_;
};

/// Bytes of members whose checksums are verified when an archive is opened, at most about 60 ms of
/// reading; of a larger archive the rest is said to be unverified.
inline constexpr std::uint64_t kChecksumBudget = std::uint64_t{64} << 20;

/// What of that an archive of `size` bytes gets: all of a small one; of one of many ranks' an
/// eighth, so that verifying costs little beside comparing.
std::uint64_t checksum_budget(std::uint64_t size);

/// Reads metadata; of small archives also the members' checksums. `file` must outlive the result.
/// Throws Error when it is none of the four containers.
TorchFile read_torch(const Source& file);
TorchFile read_torch(const Source& file, std::uint64_t budget);

/// Which of the containers a file begins as, or none. `head` is its start.
Bid torch_signature(std::span<const std::byte> head);

}  // namespace ttcheck::formats
