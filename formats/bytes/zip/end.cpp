// SPDX-License-Identifier: Apache-2.0
// The end of a zip archive: end record, zip64 locator and zip64 record, all taken as claims. A
// candidate counts only when a directory really lies directly before it, or where it says.

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip/directory.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::string_view kEnd = "PK\5\6";
constexpr std::uint64_t kEndSize = 22;
constexpr std::uint64_t kEnd64Size = 56;
constexpr std::uint64_t kLocator64Size = 20;
constexpr std::uint64_t kLongestComment = 65535;

struct Claims {
  std::uint64_t entries = 0, size = 0, offset = 0;
  std::uint64_t comment = 0;
  bool several_disks = false;
  std::uint64_t records = 0;   ///< first byte of the end records
  std::uint64_t located = 0;   ///< where the zip64 locator places its record; 0: there is none
  bool contradictory = false;  ///< zip64 and plain record differ
};

std::uint32_t signature_at(const Source& file, std::uint64_t offset) {
  if (!within(offset, 4, file.size())) return 0;
  return Stream(file, offset, offset + 4).u32("signature");
}

void read_end64(const Source& file, std::uint64_t end_record, Claims& claims) {
  if (end_record < kLocator64Size) return;
  const std::uint64_t locator = end_record - kLocator64Size;
  if (signature_at(file, locator) != kLocator64Signature) return;
  Stream in(file, locator + 4, end_record);
  const std::uint32_t disk = in.u32("zip64 disk");
  std::uint64_t record = in.u64("zip64 record offset");
  const std::uint64_t stated = record;
  const std::uint32_t disks = in.u32("zip64 disks");
  // Of an archive behind other bytes the stated place may be another archive's record.
  const bool before =
      locator >= kEnd64Size && signature_at(file, locator - kEnd64Size) == kEnd64Signature;
  if (before) record = locator - kEnd64Size;
  if (!within(record, kEnd64Size, locator) || signature_at(file, record) != kEnd64Signature) {
    claims.contradictory = true;
    return;
  }
  Stream end(file, record + 4, locator);
  const std::uint64_t rest = end.u64("zip64 record size");
  end.skip(4, "zip64 versions");
  const std::uint32_t own = end.u32("disk");
  const std::uint32_t first = end.u32("disk of the directory");
  const std::uint64_t here = end.u64("zip64 entries on disk");
  const std::uint64_t entries = end.u64("zip64 entries");
  claims.several_disks =
      claims.several_disks || disk != 0 || disks != 1 || own != 0 || first != 0 || here != entries;
  const std::uint64_t size = end.u64("zip64 directory size");
  const std::uint64_t offset = end.u64("zip64 directory offset");
  const auto differ = [](std::uint64_t narrow, std::uint64_t wide, std::uint64_t ones) {
    return narrow != wide && narrow != ones;
  };
  claims.contradictory = claims.contradictory || differ(claims.entries, entries, 0xffff) ||
                         differ(claims.size, size, kAllOnes) ||
                         differ(claims.offset, offset, kAllOnes) || record + 12 + rest != locator;
  claims.entries = entries;
  claims.size = size;
  claims.offset = offset;
  claims.records = record;
  claims.located = stated;
}

Claims read_claims(const Source& file, std::uint64_t at) {
  Stream in(file, at + 4, at + kEndSize);
  Claims claims;
  const std::uint16_t disk = in.u16("disk");
  const std::uint16_t first = in.u16("directory disk");
  claims.several_disks = (disk != 0 && disk != 0xffff) || (first != 0 && first != 0xffff);
  const std::uint16_t here = in.u16("entries on disk");
  claims.entries = in.u16("entries");
  claims.several_disks = claims.several_disks || here != claims.entries;
  claims.size = in.u32("directory size");
  claims.offset = in.u32("directory offset");
  claims.comment = in.u16("comment size");
  claims.records = at;
  read_end64(file, at, claims);
  return claims;
}

std::optional<ZipEnd> locate(const Source& file, std::uint64_t at, const Claims& claims) {
  ZipEnd end;
  end.directory_size = claims.size;
  end.entries = claims.entries;
  end.records = claims.records;
  end.end = std::min(file.size(), at + kEndSize + claims.comment);
  if (claims.size > claims.records) return std::nullopt;
  const bool empty = claims.size == 0;
  const std::uint64_t before = claims.records - claims.size;
  // Of an archive behind other bytes the stated place may be another archive's directory.
  if (!empty && signature_at(file, before) == kCentralSignature) {
    end.directory = before;
    if (claims.offset < before) end.shift = before - claims.offset;
  } else if (within(claims.offset, claims.size, claims.records) &&
             (empty || signature_at(file, claims.offset) == kCentralSignature)) {
    end.directory = claims.offset;
  } else {
    return std::nullopt;
  }
  return end;
}

void describe(const Source& file, std::uint64_t at, const Claims& claims, const ZipEnd& end,
              std::vector<Finding>& findings) {
  const Where where = file.where(at);
  if (at + kEndSize + claims.comment > file.size()) {
    findings.push_back(odd(where, fmt::format("archive comment claims {} bytes, {} left",
                                              claims.comment, file.size() - at - kEndSize)));
  } else if (end.end != file.size()) {
    findings.push_back(
        odd(file.where(end.end),
            fmt::format("{} bytes follow the end of the archive", file.size() - end.end)));
  }
  if (end.shift == 0 && claims.offset != end.directory) {
    findings.push_back(
        damaged(where, fmt::format("the end record places the directory at {}, it is at {}",
                                   claims.offset, end.directory)));
  }
  if (claims.located != 0 && claims.located + end.shift != claims.records) {
    findings.push_back(
        damaged(where, fmt::format("the zip64 locator places its record at {}, it is at {}",
                                   claims.located, claims.records)));
  }
  if (claims.several_disks) {
    findings.push_back(damaged(where, "archive says that it is spread over several disks"));
  }
  if (claims.contradictory) {
    findings.push_back(damaged(where, "zip64 end record and end record contradict each other"));
  }
  if (end.shift != 0) {
    findings.push_back(odd(file.where(0), fmt::format("{} bytes precede the archive", end.shift)));
  }
}

}  // namespace

std::optional<ZipEnd> find_zip_end(const Source& file, std::vector<Finding>& findings) {
  if (file.size() < kEndSize) return std::nullopt;
  const std::uint64_t tail = std::min(file.size(), kEndSize + kLongestComment);
  const std::uint64_t start = file.size() - tail;
  std::vector<std::byte> bytes(static_cast<std::size_t>(tail));
  file.read(start, bytes);
  struct Candidate {
    std::uint64_t at;
    Claims claims;
    ZipEnd end;
  };
  std::optional<Candidate> best;
  std::vector<std::uint64_t> candidates;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::uint64_t> signatures;  // from the front: `rfind` compares at every byte
  for (std::size_t i = text.find(kEnd); i != std::string_view::npos; i = text.find(kEnd, i + 1)) {
    signatures.push_back(start + i);
  }
  for (const std::uint64_t at : std::views::reverse(signatures)) {
    if (!within(at, kEndSize, file.size())) continue;
    const Claims claims = read_claims(file, at);
    const auto end = locate(file, at, claims);
    if (!end) continue;
    candidates.push_back(at);
    const bool exact = at + kEndSize + claims.comment == file.size();
    if (!best || (exact && best->at + kEndSize + best->claims.comment != file.size())) {
      best = Candidate{at, claims, *end};
    }
  }
  if (!best) return std::nullopt;
  // One before the directory that is used lies in a member: an archive within the archive.
  const auto plausible = std::ranges::count_if(
      candidates, [&](std::uint64_t at) { return at >= best->end.directory; });
  if (plausible > 1) {
    findings.push_back(
        odd(file.where(best->at),
            fmt::format("{} end records point to a directory; the one here is used", plausible)));
  }
  describe(file, best->at, best->claims, best->end, findings);
  return best->end;
}

}  // namespace ttcheck::formats
