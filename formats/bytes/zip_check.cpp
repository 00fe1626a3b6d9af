#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/zip.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

std::uint32_t crc_of(const Source& source, std::vector<std::byte>& block) {
  uLong crc = crc32(0, nullptr, 0);
  for (std::uint64_t at = 0; at < source.size(); at += block.size()) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, source.size() - at)));
    source.read(at, block);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), static_cast<uInt>(block.size()));
  }
  return static_cast<std::uint32_t>(crc);
}

Finding mismatch(const Zip& zip, const ZipMember& member, std::uint32_t crc) {
  Where where = zip.file().where(member.data);
  where.object = member.name;
  Finding finding =
      odd(std::move(where),
          fmt::format("stored CRC-32 is {:08x}, the member's bytes have {:08x}", member.crc, crc),
          Code::checksum);
  finding.severity = Severity::error;
  return finding;
}

}  // namespace

std::vector<Finding> check_crc(const Zip& zip, std::uint64_t budget) {
  std::vector<Finding> findings;
  std::vector<std::byte> block;
  std::size_t skipped = 0;
  std::uint64_t skipped_bytes = 0;
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    const ZipMember& member = zip.members()[i];
    if (!member.problem.empty() || member.cut || member.crc == 0 || member.size == 0) continue;
    if (member.size > budget) {
      ++skipped;
      skipped_bytes += std::min(member.size, ~skipped_bytes);
      continue;
    }
    budget -= member.size;
    try {
      const std::uint32_t crc = crc_of(zip.source(i), block);
      if (crc != member.crc) findings.push_back(mismatch(zip, member, crc));
    } catch (const Error& error) {
      findings.push_back(unreadable(error));
    }
  }
  if (skipped != 0) {
    findings.push_back(remark(
        zip.file().where(0),
        fmt::format("checksums of {} members with {} bytes were not verified: too many to read",
                    skipped, skipped_bytes),
        Code::checksum));
  }
  return findings;
}

}  // namespace ttcheck::formats
