// SPDX-License-Identifier: Apache-2.0
#pragma once
// The data files of a distributed checkpoint (torch/distributed/checkpoint/filesystem.py). A file
// is items behind one another without a header: a tensor's chunk is a whole torch.save archive of
// it, other values are whatever bytes their writer gave. A file may also be a safetensors file,
// which then says itself what is where.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/run.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "formats/bytes/claimed_bytes.hpp"
#include "formats/bytes/root.hpp"
#include "formats/bytes/slice.hpp"
#include "formats/dcp/chunk.hpp"
#include "formats/dcp/metadata.hpp"

namespace ttcheck::formats {

/// The data that one table describes. Pieces refer into it, and it into root and table.
class DcpData {
 public:
  /// Looks at the size and the first bytes of each file. `root` must outlive it.
  DcpData(const Root& root, std::shared_ptr<const DcpMetadata> metadata);
  ~DcpData();

  const DcpMetadata& metadata() const { return *metadata_; }

  /// The bytes of a chunk, row-major and little-endian. Its archive is opened by the first read,
  /// which throws Error where it does not hold what the table says. Nothing when there is no such
  /// place, or when the file is too short: that is said by report().
  std::optional<Piece> piece(const DcpTensor& tensor, std::size_t chunk);

  /// The bytes of a value that is no tensor. Nothing when it lies on a missing rank, which is said
  /// by report(). Throws Error; what the file lacks is said by report(), too.
  std::optional<DcpStream> bytes(const DcpItem& item);

  /// Counts what is there and not read: a value, a chunk without elements.
  void pass(const std::optional<DcpPlace>& place, const std::string& name);

  /// Names a tensor of which no chunk can be read.
  void lose(const DcpTensor& tensor, State& state) const;

  /// Adds what pieces are lost, by rank, the ranks that are missing, what overlaps, what no item
  /// claims, and whose checksums are wrong; of a large checkpoint the rest is said to be
  /// unverified. Call it after all pieces were asked for.
  void report(State& state);

  /// The bytes of the data files that are there.
  std::uint64_t size() const;

  /// The paths of the files that the table names.
  const std::vector<std::string>& files() const { return metadata_->files; }

 private:
  struct File {
    const Source* source = nullptr;
    std::optional<Error> fault;  ///< why it cannot be read
    std::int32_t rank = kNoRank;
    bool gone = false;  ///< like all files of its rank, while other ranks have theirs
    std::optional<SafetensorsHeader> header;
    std::unique_ptr<Slice> tail;       ///< that the header is of, where other values lie in front
    std::uint64_t header_at = 0;       ///< where it begins
    NameViewMap<std::size_t> entries;  ///< of the header
    std::vector<bool> served;          ///< entries that a chunk took
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  ///< of items: begin, end
    std::optional<ClaimedBytes> claims;  ///< of its bytes, once there is any
    std::int64_t lost = 0;               ///< items that cannot be read
    std::optional<Error> first_lost;     ///< of them
    std::uint64_t header_claimed = 0;    ///< bytes of tensors that the table names
  };

  void open(const std::string& path, File& file);
  void find_headers();
  static void read_header(File& file, const Source& source);
  void find_gone();
  std::optional<Error> claim(const DcpPlace& place, const std::string& name);
  std::optional<Piece> from_header(File& file, const DcpTensor& tensor, const DcpChunk& chunk);
  Error fault_of(const DcpPlace& place, const std::string& name) const;
  Error count_lost(File& file, const std::string& name, Error error);
  void report_losses(State& state) const;
  void report_gone(State& state) const;
  void report_sums(State& state) const;
  void report_gaps(File& file, State& state) const;

  const Root& root_;
  std::shared_ptr<const DcpMetadata> metadata_;
  std::vector<File> files_;
  std::pair<std::string, Error> last_lost_{"", Error("")};  ///< by the name of its tensor or object
  std::vector<std::unique_ptr<DcpChunkSource>> chunks_;
  std::vector<std::string> gone_values_;
};

/// The rank that wrote a file, by its name: `__R_n.distcp`, perhaps with a prefix.
std::int32_t rank_of_data_file(std::string_view name);

}  // namespace ttcheck::formats
