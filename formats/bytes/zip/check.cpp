// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/zip.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kCheckedBlock = std::uint64_t{1} << 18;  ///< bytes at a time
constexpr std::uint64_t kStretch = std::uint64_t{1} << 24;       ///< summed by one thread

/// A part of a member's bytes, and what it comes to.
struct Stretch {
  std::size_t member = 0;
  const Source* source = nullptr;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t crc = 0;
  std::optional<Error> error{};

  void sum() {
    std::vector<std::byte> block(static_cast<std::size_t>(std::min(kCheckedBlock, end - begin)));
    try {
      for (std::uint64_t at = begin; at < end; at += block.size()) {
        block.resize(static_cast<std::size_t>(std::min(kCheckedBlock, end - at)));
        source->read(at, block);
        crc = libdeflate_crc32(crc, block.data(), block.size());
      }
    } catch (const Error& caught) {
      error = caught;
    }
  }
};

void add_stretches(std::size_t member, const Source& source, std::vector<Stretch>& stretches) {
  const std::uint64_t step = source.sequential() ? source.size() : kStretch;
  for (std::uint64_t at = 0; at < source.size(); at += step) {
    stretches.push_back({member, &source, at, at + std::min(step, source.size() - at)});
  }
}

/// Few bytes are summed before other threads are there to help: those of a stretch are one's work,
/// in however many members they lie.
void sum_all(std::vector<Stretch>& stretches) {
  std::vector<std::size_t> starts;
  std::uint64_t bytes = kStretch;
  for (std::size_t n = 0; n < stretches.size(); ++n) {
    const std::uint64_t more = stretches[n].end - stretches[n].begin;
    if (more > kStretch - std::min(bytes, kStretch)) {
      starts.push_back(n);
      bytes = 0;
    }
    bytes += std::min(more, kStretch);
  }
  parallel_for(starts.size(), [&](std::size_t i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : stretches.size();
    for (std::size_t n = starts[i]; n < end; ++n) stretches[n].sum();
  });
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
  std::vector<Stretch> stretches;
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
    add_stretches(i, zip.source(i), stretches);
  }
  sum_all(stretches);
  std::vector<Finding> findings;
  for (std::size_t n = 0; n < stretches.size();) {
    const std::size_t i = stretches[n].member;
    std::uint32_t crc = 0;
    std::optional<Error> error;
    for (; n < stretches.size() && stretches[n].member == i; ++n) {
      const Stretch& one = stretches[n];
      crc = static_cast<std::uint32_t>(
          crc32_combine(crc, one.crc, checked_cast<z_off_t>(one.end - one.begin)));
      if (!error) error = one.error;
    }
    if (error) {
      findings.push_back(unreadable(*error));
    } else if (crc != zip.members()[i].crc) {
      findings.push_back(mismatch(zip, zip.members()[i], crc));
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
