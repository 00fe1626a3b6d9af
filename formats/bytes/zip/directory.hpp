// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of reading an archive: the records at its end, the directory they point to, the local
// header of one member, and the search for members when the end is gone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/source.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip/member.hpp"

namespace ttcheck::formats {

/// What the end of an archive says: where the directory is. All offsets are the file's, prepended
/// bytes included.
struct ZipEnd {
  std::uint64_t directory = 0;  ///< first central header
  std::uint64_t directory_size = 0;
  std::uint64_t entries = 0;  ///< as claimed
  std::uint64_t shift = 0;    ///< bytes in front of the archive
  std::uint64_t records = 0;  ///< first byte of the end records
  std::uint64_t end = 0;      ///< behind the last byte of the archive
};

/// The end of the archive: of several candidates the one whose comment ends the file, else the last
/// one with a directory. None when there is none with a directory.
std::optional<ZipEnd> find_zip_end(const Source& file, std::vector<Finding>& findings);

/// Walks the directory by its bytes; the claimed count is only compared.
std::vector<ZipMember> read_zip_directory(const Source& file, const ZipEnd& end,
                                          std::vector<Finding>& findings);

/// Reads the member's local header, sets where its bytes start and end, and says what differs.
void read_local_header(const Source& file, std::uint64_t limit, ZipMember& member,
                       std::vector<Finding>& findings);

/// Members found by walking local headers from the start of the file; time linear in its size.
std::vector<ZipMember> recover_zip_members(const Source& file);

/// Reads what both headers have. REQUIRES that the stream is at the flags.
ZipFields read_zip_fields(Stream& in);

/// The zip64 fields of an extra field, each used only where the 32-bit field is all ones.
struct Zip64Fields {
  std::uint64_t* size = nullptr;
  std::uint64_t* packed = nullptr;
  std::uint64_t* header = nullptr;
};

/// Reads an extra field with a cursor of its own. Returns what is odd about it, or nothing.
std::optional<std::string> read_zip_extra(std::string_view extra, const Zip64Fields& fields);

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kDescriptorSignature = 0x08074b50;
inline constexpr std::uint64_t kLocalSize = 30;
inline constexpr std::uint64_t kCentralSize = 46;
inline constexpr std::uint64_t kAllOnes = 0xffffffff;
inline constexpr std::uint16_t kHasDescriptor = 0x0008;
inline constexpr std::uint16_t kEncrypted = 0x2041;  ///< bits 0, 6 and 13: data, or headers
inline constexpr std::uint16_t kPatched = 0x0020;    ///< bit 5: data of a patch

}  // namespace ttcheck::formats
