// SPDX-License-Identifier: Apache-2.0
// A member is described twice: by its entry in the directory and by the local header before its
// bytes. Only the header tells where these start, since its extra field may have another length.
// A writer in one pass leaves sizes and checksum 0 in it, for a data descriptor behind the bytes,
// so that a 0 there is no difference; whatever else differs in name, method, encryption, checksum
// or sizes is a finding, and the directory's value is used. A descriptor may have a signature or
// none and sizes of 4 or 8 bytes: that shape counts whose three numbers are the directory's.
//
// A field of all ones stands for a wide value in the zip64 extra field, in the order size, packed
// size, header. The directory is walked by its bytes up to the first that is no entry; the
// claimed number is compared only. An entry that cannot be read ends the walk, as the next one's
// place is not known. Bytes outside of the archive are the member's problem, and are not read.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/bytes/zip/directory.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint16_t kZip64Extra = 0x0001;

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

Where place(const Source& file, std::uint64_t offset, const std::string& name) {
  Where where = file.where(offset);
  where.object = name;
  return where;
}

/// Takes the wide values that stand for all-ones fields, in the fixed order of the format.
std::optional<std::string> take_wide(std::string_view body, const Zip64Fields& fields) {
  std::size_t at = 0;
  for (std::uint64_t* field : {fields.size, fields.packed, fields.header}) {
    if (field == nullptr || *field != kAllOnes) continue;
    if (body.size() - at < 8) return "zip64 extra field is too short";
    *field = little(body, at, 8);
    at += 8;
  }
  return std::nullopt;
}

constexpr unsigned kNewestVersion = 63;  // APPNOTE.TXT 4.4.3.2; zipfile refuses what is above

ZipMember read_central_header(Stream& in, std::uint64_t shift, const Source& file,
                              std::vector<Finding>& findings) {
  const std::uint64_t start = in.offset() - 4;
  in.skip(2, "version made by");
  const unsigned needed = in.u16("version needed") & 0xffU;  // the rest names a system
  const ZipFields fields = read_zip_fields(in);
  ZipMember member(fields);
  member.entry = start;
  const std::uint16_t comment = in.u16("comment size");
  const std::uint16_t disk = in.u16("disk");
  in.skip(2, "internal attributes");
  member.attributes = in.u32("external attributes");
  member.header = in.u32("local header offset");
  member.name = in.text(fields.name_size, "name");
  const std::string more = in.text(fields.extra_size, "extra field");
  in.skip(comment, "comment");
  const auto trouble = read_zip_extra(more, {&member.size, &member.packed, &member.header});
  if (trouble) findings.push_back(odd(place(file, start, member.name), *trouble));
  if (needed > kNewestVersion) {
    findings.push_back(damaged(place(file, start, member.name),
                               fmt::format("member says that it needs version {}.{} of the format",
                                           needed / 10, needed % 10)));
  }
  if (disk != 0 && disk != 0xffff) {
    findings.push_back(
        damaged(place(file, start, member.name), "member says that it is on another disk"));
  }
  if (member.header > file.size() - shift) {
    member.problem = fmt::format("local header offset {} is outside of the file", member.header);
  } else {
    member.header += shift;
  }
  return member;
}

/// Offset behind the data descriptor, if one of its four shapes fits the directory's numbers.
std::optional<std::uint64_t> descriptor_end(const Source& file, const ZipMember& member,
                                            std::uint64_t after, std::uint64_t limit) {
  std::array<std::byte, 24> raw{};
  const std::uint64_t have = std::min<std::uint64_t>(raw.size(), limit - std::min(limit, after));
  file.read(after, std::span(raw).first(static_cast<std::size_t>(have)));
  const std::string_view bytes(reinterpret_cast<const char*>(raw.data()), have);
  for (const std::size_t wide : {std::size_t{4}, std::size_t{8}}) {
    for (const std::size_t start : {std::size_t{4}, std::size_t{0}}) {
      const std::size_t length = start + 4 + 2 * wide;
      if (bytes.size() < length) continue;
      if (start == 4 && little(bytes, 0, 4) != kDescriptorSignature) continue;
      if (little(bytes, start, 4) == member.crc &&
          little(bytes, start + 4, wide) == member.packed &&
          little(bytes, start + 4 + wide, wide) == member.size) {
        return after + length;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ZipFields read_zip_fields(Stream& in) {
  ZipFields fields;
  fields.flags = in.u16("flags");
  fields.method = in.u16("method");
  in.skip(4, "time");
  fields.crc = in.u32("crc");
  fields.packed = in.u32("packed size");
  fields.size = in.u32("size");
  fields.name_size = in.u16("name size");
  fields.extra_size = in.u16("extra size");
  return fields;
}

ZipMember::ZipMember(const ZipFields& fields)
    : packed(fields.packed),
      size(fields.size),
      crc(fields.crc),
      method(fields.method),
      flags(fields.flags) {}

std::optional<std::string> read_zip_extra(std::string_view extra, const Zip64Fields& fields) {
  bool seen = false;
  std::optional<std::string> trouble;
  while (extra.size() >= 4) {
    const std::uint64_t id = little(extra, 0, 2);
    const std::uint64_t size = little(extra, 2, 2);
    if (size > extra.size() - 4) return "extra field runs over its end";
    if (id == kZip64Extra) {
      if (seen) return "zip64 extra field is there twice";
      seen = true;
      trouble = take_wide(extra.substr(4, size), fields);
    }
    extra.remove_prefix(4 + size);
  }
  return trouble;
}

std::vector<ZipMember> read_zip_directory(const Source& file, const ZipEnd& end,
                                          std::vector<Finding>& findings) {
  std::vector<ZipMember> members;
  Stream in(file, end.directory, end.directory + end.directory_size);
  while (in.remaining() >= kCentralSize) {
    if (in.u32("signature") != kCentralSignature) break;
    try {
      members.push_back(read_central_header(in, end.shift, file, findings));
    } catch (const Error& error) {
      findings.push_back(unreadable(error));
      break;
    }
  }
  if (members.size() != end.entries) {
    findings.push_back(damaged(
        file.where(end.directory),
        fmt::format("directory claims {} entries, {} are there", end.entries, members.size())));
  } else if (in.remaining() != 0) {
    findings.push_back(
        odd(file.where(in.offset()),
            fmt::format("{} bytes follow the last entry of the directory", in.remaining())));
  }
  return members;
}

void read_local_header(const Source& file, std::uint64_t limit, ZipMember& member,
                       std::vector<Finding>& findings) {
  if (!within(member.header, kLocalSize, limit)) {
    member.problem = fmt::format("local header at {} is not within the archive", member.header);
    return;
  }
  Stream in(file, member.header, std::min(limit, member.header + kLocalSize));
  const Where where = place(file, member.header, member.name);
  if (in.u32("signature") != kLocalSignature) {
    member.problem = "there is no local header where the directory says";
    return;
  }
  in.skip(2, "version");
  ZipFields local = read_zip_fields(in);
  member.data = member.header + kLocalSize + local.name_size + local.extra_size;
  if (!within(member.data, member.packed, limit)) {
    member.problem = fmt::format("its {} bytes from {} on are not within the archive",
                                 member.packed, member.data);
    member.data = std::min(member.data, limit);
    return;
  }
  Stream more(file, member.header + kLocalSize, member.data);
  const auto differ = [&](std::string_view what) {
    return fmt::format("{} in the local header and in the directory's entry at {} differ", what,
                       member.entry);
  };
  const auto note = [&](std::string_view what) { findings.push_back(odd(where, differ(what))); };
  if (more.text(local.name_size, "name") != member.name) {  // no reader opens such a member
    findings.push_back(damaged(where, differ("name")));
  }
  const auto trouble = read_zip_extra(more.text(local.extra_size, "extra field"),
                                      {&local.size, &local.packed, nullptr});
  if (trouble) findings.push_back(odd(where, *trouble));
  if (local.method != member.method) note("method");
  if ((local.flags & kEncrypted) != (member.flags & kEncrypted)) note("encryption flag");
  const bool later = (local.flags & kHasDescriptor) != 0;
  if (local.crc != member.crc && !(later && local.crc == 0)) note("crc");
  const bool same_size = local.packed == member.packed && local.size == member.size;
  member.disputed = !same_size && !(later && local.packed == 0 && local.size == 0);
  if (member.disputed) note("size");
  member.end = member.data + member.packed;
  if (!later) return;
  const auto end = descriptor_end(file, member, member.end, limit);
  if (end) member.end = *end;
  if (!end)
    findings.push_back(
        odd(place(file, member.end, member.name), "data descriptor and directory differ"));
}

}  // namespace ttcheck::formats
