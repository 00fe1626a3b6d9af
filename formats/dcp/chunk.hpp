// SPDX-License-Identifier: Apache-2.0
#pragma once
// One chunk of a distributed checkpoint as a source of its plain bytes.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/source.hpp"
#include "formats/dcp/metadata.hpp"

namespace ttcheck::formats {

/// Undoes the transforms of an item one after another, each a source over the one before.
class DcpStream {
 public:
  /// `file` must outlive it. Throws Error for a transform that is not known, and where more than
  /// `limit` bytes come out.
  DcpStream(const Source& file, const DcpPlace& place, const std::vector<std::string>& transforms,
            std::uint64_t limit, const std::string& object);

  const Source& bytes() const { return *layers_.back(); }
  void settle();  ///< frees what only parsing needs

 private:
  std::vector<std::unique_ptr<Source>> layers_;
};

/// The elements of a chunk, row-major and little-endian, whatever its archive's strides and order.
/// The archive is opened by the first read, and what it holds is compared with the table then.
class DcpChunkSource final : public Source {
 public:
  /// All must outlive it. REQUIRES a known dtype, and that the place lies within the file.
  DcpChunkSource(const Source& file, const DcpTensor& tensor, const DcpChunk& chunk,
                 const std::vector<std::string>& transforms);
  ~DcpChunkSource() override;

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  bool sequential() const override { return !transforms_->empty(); }
  Where where(std::uint64_t offset) const override;

  std::uint64_t stored() const { return chunk_->place->length; }
  /// True when its archive's checksums can be verified by reading `stored` bytes.
  bool has_sums() const { return transforms_->empty(); }
  /// Adds what is wrong with its archive, and TT502 for each member that is not what was written.
  /// REQUIRES has_sums.
  void check_sums(std::vector<Finding>& findings) const;

 private:
  struct Opened;
  std::uint64_t resolve() const;  ///< offset of the first byte in the file, or kNotPlain
  Where start() const;

  const Source* file_;
  const DcpTensor* tensor_;
  const DcpChunk* chunk_;
  const std::vector<std::string>* transforms_;
  std::uint64_t size_;
  mutable std::mutex mutex_;
  mutable std::atomic<std::uint64_t> begin_;
  mutable std::unique_ptr<Opened> opened_;  ///< of one that is not plain bytes in the file
};

}  // namespace ttcheck::formats
