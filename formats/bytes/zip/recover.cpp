// SPDX-License-Identifier: Apache-2.0
// Members of an archive whose end is gone. Local headers are walked from the start; a member that
// leaves its size to a data descriptor ends where a descriptor states just the distance to it, so
// each byte is looked at once.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/checked.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip/directory.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kReadBlock = std::size_t{1} << 20;
constexpr std::size_t kDescriptor32 = 16;

/// The file through one window that only moves on, whatever the members' number.
class Window {
 public:
  explicit Window(const Source& file) : file_(file) {}

  /// Bytes from `at` on: those that are in the window, or a fresh window of them when these are too
  /// few to hold a descriptor. REQUIRES that `at` does not decrease.
  std::string_view from(std::uint64_t at) {
    const std::uint64_t there = begin_ + block_.size();
    if (at >= there || (there - at < kDescriptor32 && there < file_.size())) {
      block_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(kReadBlock, file_.size() - at)));
      begin_ = at;
      file_.read(at, block_);
    }
    const std::string_view text(reinterpret_cast<const char*>(block_.data()), block_.size());
    return text.substr(static_cast<std::size_t>(at - begin_));
  }

 private:
  const Source& file_;
  std::vector<std::byte> block_;
  std::uint64_t begin_ = 0;
};

/// Offset of the data descriptor that ends a member whose data start at `data`, or the file's size.
std::uint64_t find_descriptor(const Source& file, Window& window, std::uint64_t data) {
  std::uint64_t at = data;
  while (within(at, kDescriptor32, file.size())) {
    const std::string_view text = window.from(at);
    std::size_t i = text.find("PK\7\10");
    for (; i != std::string_view::npos; i = text.find("PK\7\10", i + 1)) {
      if (i + kDescriptor32 > text.size()) break;
      std::uint32_t packed = 0;
      std::memcpy(&packed, text.data() + i + 8, 4);
      if (packed == ((at + i - data) & kAllOnes)) return at + i;
    }
    if (at + text.size() == file.size()) break;
    at += text.size() - (kDescriptor32 - 1);
  }
  return file.size();
}

/// Reads the local header at `start`; nothing when there is none.
std::optional<ZipMember> read_header(const Source& file, std::uint64_t start) {
  Stream in(file, start, start + kLocalSize);
  if (in.u32("signature") != kLocalSignature) return std::nullopt;
  in.skip(2, "version");
  const ZipFields fields = read_zip_fields(in);
  const std::uint64_t more = std::uint64_t{fields.name_size} + fields.extra_size;
  if (!within(in.offset(), more, file.size())) return std::nullopt;
  Stream rest(file, in.offset(), in.offset() + more);
  ZipMember member(fields);
  member.header = start;
  member.name = rest.text(fields.name_size, "name");
  read_zip_extra(rest.text(fields.extra_size, "extra field"),
                 {&member.size, &member.packed, nullptr});
  member.data = rest.offset();
  return member;
}

void end_by_descriptor(const Source& file, Window& window, ZipMember& member) {
  const std::uint64_t descriptor = find_descriptor(file, window, member.data);
  member.packed = descriptor - member.data;
  member.end = descriptor;
  member.cut = descriptor == file.size();
  if (member.cut) {
    member.size = member.packed;
    return;
  }
  Stream in(file, descriptor + 4, descriptor + kDescriptor32);
  member.crc = in.u32("crc");
  in.skip(4, "packed size");
  member.size = in.u32("size");
  const bool wide =
      within(descriptor + kDescriptor32, 8, file.size()) &&
      Stream(file, descriptor + kDescriptor32, descriptor + kDescriptor32 + 4).u32("next") !=
          kLocalSignature;
  member.end = descriptor + kDescriptor32 + (wide ? 8 : 0);
  if (member.method == 0) member.size = member.packed;
}

}  // namespace

std::vector<ZipMember> recover_zip_members(const Source& file) {
  std::vector<ZipMember> members;
  Window window(file);
  std::uint64_t at = 0;
  while (within(at, kLocalSize, file.size())) {
    std::optional<ZipMember> member = read_header(file, at);
    if (!member) break;
    const bool later = (member->flags & kHasDescriptor) != 0 && member->packed == 0;
    if (later) {
      end_by_descriptor(file, window, *member);
    } else if (!within(member->data, member->packed, file.size())) {
      member->packed = file.size() - member->data;
      member->cut = true;
      member->end = file.size();
    } else {
      member->end = member->data + member->packed;
    }
    if (member->cut && member->method == 0) member->size = member->packed;
    at = member->end;
    members.push_back(std::move(*member));
  }
  return members;
}

}  // namespace ttcheck::formats
