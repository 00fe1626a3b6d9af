// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directory of a zip archive, and its members as sources. Nothing is extracted: a stored member
// is a range of the file, a deflated one a stream over it. The central directory and the local
// headers are both read and held against each other; what differs is a finding.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/finding.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/zip/member.hpp"

namespace ttcheck::formats {

/// An archive within one source, which must outlive it.
class Zip {
 public:
  /// Reads the directory; where the end of the archive is gone, finds members by their local
  /// headers. Throws Error when there is neither a directory nor a single member.
  explicit Zip(const Source& file);

  const Source& file() const { return *file_; }
  const std::vector<ZipMember>& members() const { return members_; }
  /// Finds the last member of that name (what a reader that fills a table would see), or none.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Gives the member's bytes. Throws Error for one with a `problem`.
  const Source& source(std::size_t member) const;

  bool recovered() const { return recovered_; }  ///< the directory was gone
  const std::vector<Finding>& findings() const { return findings_; }
  std::uint64_t unclaimed() const { return unclaimed_; }  ///< bytes that belong to nothing

 private:
  void refuse_claims();
  void open_members();
  void map_ranges(std::uint64_t directory, std::uint64_t end_of_archive);
  void index_names();

  const Source* file_;
  std::vector<ZipMember> members_;
  std::vector<std::unique_ptr<Source>> sources_;
  NameMap<std::size_t> index_;
  std::vector<Finding> findings_;
  std::uint64_t unclaimed_ = 0;
  bool recovered_ = false;
};

/// True when the source starts like an archive with at least one member.
bool looks_like_zip(const Source& file);

/// Holds the members' bytes against their stored CRC-32; each wrong member is TT502. A CRC-32 of 0
/// is none: a writer that was told to compute none writes that. Members are taken in order while
/// they fit into `budget` bytes together; how many did not is a note.
std::vector<Finding> check_crc(const Zip& zip, std::uint64_t budget);

}  // namespace ttcheck::formats
