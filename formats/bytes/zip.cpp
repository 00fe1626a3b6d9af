// SPDX-License-Identifier: Apache-2.0
// The end records and the directory say which members there are (formats/bytes/zip/end,
// formats/bytes/zip/entries); where they are gone, a walk over the local headers does
// (formats/bytes/zip/recover). What they say is then judged in four passes.
//
// First, members that share bytes cost time and nothing on disk: members are taken by place as
// long as all together claim no more than twice the file, and the others are refused. Then each
// member gets its source or its problem; one that is flagged as encrypted, as a directory with
// bytes or as a link is a finding, and its bytes are read as data. Then one pass over the members
// in order of place finds overlaps and gaps; a gap that begins with a local header hides a
// member, which is not read. Last come the names: never paths, the last of a name counts, and two
// that differ in case only are odd. All passes cost at most a sort of the members; no member's
// bytes are read.

#include "formats/bytes/zip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/name_map.hpp"
#include "formats/bytes/claimed_bytes.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/inflate.hpp"
#include "formats/bytes/slice.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip/directory.hpp"

namespace ttcheck::formats {
namespace {

/// Neighbours may share this much: some writers are off by a byte. Not where the member's own
/// header says that it is shorter: zipfile refuses what overlaps.
constexpr std::uint64_t kHarmlessOverlap = 2;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

Where place(const Source& file, const ZipMember& member) {
  Where where = file.where(member.header);
  where.object = member.name;
  return where;
}

bool odd_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos) return true;
  if (name.size() > 1 && name[1] == ':') return true;  // a drive's letter
  if (name.find('\0') != std::string_view::npos) return true;
  while (!name.empty()) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, slash);
    if (part == "." || part == ".." || (part.empty() && slash + 1 < name.size())) return true;
    name.remove_prefix(std::min(slash + 1, name.size()));
  }
  return false;
}

std::string without_case(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

constexpr std::uint32_t kDirectory = 0x10;  // of DOS; miniz looks at it whatever the system

bool is_link_or_device(const ZipMember& member) {
  const std::uint32_t mode = member.attributes >> 28;  // file type of a Unix mode
  return mode == 0xa || mode == 0x2 || mode == 0x6 || mode == 0x1;
}

}  // namespace

Zip::Zip(const Source& file) : file_(&file) {
  const auto end = find_zip_end(file, findings_);
  if (end) {
    members_ = read_zip_directory(file, *end, findings_);
    for (ZipMember& member : members_) {
      if (member.problem.empty()) read_local_header(file, end->directory, member, findings_);
    }
  } else {
    members_ = recover_zip_members(file);
    recovered_ = true;
    if (members_.empty()) {
      throw Error("is no zip archive: no end record and no local header", file.where(0));
    }
    findings_.push_back(damaged(
        file.where(file.size()),
        fmt::format("truncated: the archive's directory is missing; {} members were found by their "
                    "local headers",
                    members_.size())));
  }
  refuse_claims();
  open_members();
  map_ranges(end ? end->directory : file.size(), end ? end->end : file.size());
  index_names();
}

void Zip::refuse_claims() {
  ClaimedBytes all(file_->size());
  const auto fits = [&](const ZipMember& one) {
    return !one.problem.empty() || all.take(one.packed);
  };
  if (std::ranges::all_of(members_, fits)) return;
  std::vector<ZipMember*> order;
  for (ZipMember& member : members_) {
    if (member.problem.empty()) order.push_back(&member);
  }
  std::ranges::stable_sort(order, {}, &ZipMember::header);
  ClaimedBytes claims(file_->size());
  for (ZipMember* const member : order) {
    if (claims.take(member->packed)) continue;
    member->problem = fmt::format(
        "its bytes are other members', too: together they claim more than {} times the file",
        ClaimedBytes::kTimes);
  }
}

void Zip::open_members() {
  sources_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    ZipMember& member = members_[i];
    if (member.problem.empty() && (member.flags & (kEncrypted | kPatched)) != 0) {
      findings_.push_back(damaged(
          place(*file_, member),
          fmt::format("member is flagged as {}, which no reader opens",
                      (member.flags & kEncrypted) != 0 ? "encrypted" : "the data of a patch")));
    }
    if ((member.attributes & kDirectory) != 0 && member.size > 0) {
      findings_.push_back(
          damaged(place(*file_, member),
                  "member is marked as a directory, of which readers take no bytes"));
    }
    if (is_link_or_device(member)) {
      findings_.push_back(
          odd(place(*file_, member), "member is marked as a link or device; read as data"));
    }
    if (member.problem.empty() && member.method == kStored && member.packed != member.size) {
      member.problem =
          fmt::format("stored member has {} bytes but says {}", member.packed, member.size);
    }
    const bool unknown =
        member.problem.empty() && member.method != kStored && member.method != kDeflated;
    if (unknown) {
      member.problem = fmt::format("unsupported method {}", member.method);
    }
    if (!member.problem.empty()) {
      findings_.push_back(unknown ? beyond(place(*file_, member), member.problem)
                                  : damaged(place(*file_, member), member.problem));
    } else if (member.method == kStored) {
      sources_[i] = std::make_unique<Slice>(*file_, member.data, member.size, member.name);
    } else {
      sources_[i] =
          std::make_unique<Inflate>(*file_, member.data, member.packed, member.size, member.name);
    }
  }
}

void Zip::map_ranges(std::uint64_t directory, std::uint64_t end_of_archive) {
  std::vector<const ZipMember*> order;
  for (const ZipMember& member : members_) {
    if (member.end != 0) order.push_back(&member);
  }
  std::sort(order.begin(), order.end(), [](const ZipMember* a, const ZipMember* b) {
    return std::pair(a->header, a->end) < std::pair(b->header, b->end);
  });
  std::uint64_t covered = 0;
  const auto gap = [&](std::uint64_t until) {
    if (until <= covered) return;
    unclaimed_ += until - covered;
    const bool hidden = until - covered >= kLocalSize &&
                        Stream(*file_, covered, covered + 4).u32("signature") == kLocalSignature;
    findings_.push_back(
        hidden ? beyond(file_->where(covered),
                        fmt::format("a member lies here that the directory does not list: {} bytes "
                                    "are not read",
                                    until - covered))
               : odd(file_->where(covered),
                     fmt::format("{} bytes belong to no member", until - covered)));
  };
  bool disputed = false;  // the end of what is covered
  for (const ZipMember* member : order) {
    gap(member->header);
    if (member->header + (disputed ? 0 : kHarmlessOverlap) < covered) {
      findings_.push_back(damaged(
          place(*file_, *member),
          fmt::format("member overlaps the one before it by {} bytes", covered - member->header)));
    }
    if (member->end > covered) disputed = member->disputed;
    covered = std::max(covered, member->end);
  }
  gap(directory);
  covered = end_of_archive;
  if (file_->size() > covered) unclaimed_ += file_->size() - covered;
}

void Zip::index_names() {
  index_.reserve(members_.size());
  NameMap<std::size_t> folded;
  folded.reserve(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const ZipMember& member = members_[i];
    if (odd_name(member.name)) {
      findings_.push_back(
          odd(place(*file_, member), "member has a name that is no plain relative path"));
    }
    if (!index_.insert_or_assign(member.name, i).second) {
      findings_.push_back(
          odd(place(*file_, member), "several members have this name; the last one is used"));
    }
    const auto [other, fresh] = folded.try_emplace(without_case(member.name), i);
    if (!fresh && members_[other->second].name != member.name) {
      findings_.push_back(odd(place(*file_, member), "another member has this name in other case"));
    }
  }
}

std::optional<std::size_t> Zip::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

const Source& Zip::source(std::size_t member) const {
  if (sources_[member] == nullptr) {
    throw Error(members_[member].problem, place(*file_, members_[member]));
  }
  return *sources_[member];
}

bool looks_like_zip(const Source& file) {
  if (file.size() < 4) return false;
  const std::uint32_t signature = Stream(file, 0, 4).u32("signature");
  return signature == kLocalSignature;
}

}  // namespace ttcheck::formats
