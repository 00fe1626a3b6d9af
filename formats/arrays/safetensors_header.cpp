// SPDX-License-Identifier: Apache-2.0
// Each entry claims a span of the buffer, and the spans of all should tile it. Entries need not
// stand in the order of their places, so `sweep` sorts the spans, if they are not sorted already,
// and one pass finds gaps, overlaps and bytes behind the last. A span counts from when it is
// read, though its entry is bad in dtype or shape: bytes that a bad entry owns are no gap. Where
// some overlap, tensors are taken by place as long as all together claim no more than twice the
// buffer, and the others are left out: otherwise a small file could ask for hours of reading.
//
// The JSON is visited entry by entry and is never a tree as a whole. An entry with an unknown
// field or dtype, with a span of another size than its shape needs, or cut off by the end of the
// file is left out with a finding, and the others stand. Of a name that stands twice the first is
// used. A header that is longer than the file or than the limit, or is no JSON object, is an
// Error.

#include "formats/arrays/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string_view>

#include "core/base/checked.hpp"
#include "core/base/index_table.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/claimed_bytes.hpp"
#include "formats/bytes/cursor.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxDims = 64;
constexpr std::size_t kEntryText = 64;  // characters of a short entry, to make room by

constexpr std::array<std::pair<std::string_view, DType>, 22> kWords = {{
    {"BOOL", DType::boolean},
    {"F4", DType::f4_e2m1},
    {"F6_E2M3", DType::f6_e2m3},
    {"F6_E3M2", DType::f6_e3m2},
    {"U8", DType::u8},
    {"I8", DType::i8},
    {"F8_E5M2", DType::f8_e5m2},
    {"F8_E4M3", DType::f8_e4m3fn},
    {"F8_E8M0", DType::f8_e8m0},
    {"F8_E4M3FNUZ", DType::f8_e4m3fnuz},
    {"F8_E5M2FNUZ", DType::f8_e5m2fnuz},
    {"I16", DType::i16},
    {"U16", DType::u16},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"I32", DType::i32},
    {"U32", DType::u32},
    {"F32", DType::f32},
    {"C64", DType::c64},
    {"F64", DType::f64},
    {"I64", DType::i64},
    {"U64", DType::u64},
}};

std::optional<DType> dtype_of(std::string_view word) {
  for (const auto& [text, dtype] : kWords) {
    if (text == word) return dtype;
  }
  return std::nullopt;
}

/// A span of the buffer that some entry claims, relative to its start.
struct Span {
  std::uint64_t begin = 0, end = 0;
  std::string_view name;
};

struct Member {
  std::string name;
  std::uint64_t offset = 0;  ///< of its value in the file
};

/// Reads the entries one after the other into a header.
class Reader {
 public:
  Reader(const Source& source, std::uint64_t data_begin)
      : source_(source), buffer_(source.size() - data_begin) {
    header_.data_begin = data_begin;
  }

  SafetensorsHeader read(std::string text) {
    const std::size_t tensors = text.size() / kEntryText;
    header_.tensors.reserve(tensors);
    owners_.reserve(tensors);
    spans_.reserve(tensors);
    seen_ = IndexTable(tensors);
    for_each_member(std::move(text), source_.where(0).file, 8,
                    [&](const JsonMember& member) { take(member.first, member.second); });
    const bool shared = sweep();
    for (std::size_t i = 0; i < header_.tensors.size(); ++i) {
      header_.tensors[i].name = std::move(*owners_[i]);
    }
    const auto by_place = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    if (!std::ranges::is_sorted(header_.tensors, by_place)) {
      std::ranges::stable_sort(header_.tensors, by_place);
    }
    if (shared) refuse_claims();
    header_.findings = findings_.take();
    return std::move(header_);
  }

 private:
  void take(std::string_view key, const Json& value) {
    Member& member = members_.emplace_back(std::string(key), value.offset());
    const auto first =
        seen_.find_or_add(NameHash{}(key), checked_cast<std::uint32_t>(members_.size() - 1),
                          [&](std::uint32_t other) { return members_[other].name == key; });
    if (first) {
      ++header_.unreadable;
      findings_.add(found(Code::unreadable,
                          fmt::format("the header names this tensor twice, at 0x{:x} and 0x{:x}: "
                                      "only the first is used",
                                      members_[*first].offset, value.offset()),
                          source_.where(value.offset()), member.name));
    } else if (key == "__metadata__") {
      metadata(value);
    } else {
      entry(member.name, value);
    }
  }

  void metadata(const Json& value) {
    try {
      NameSet keys;
      for (const auto& [key, text] : value.members()) {
        if (keys.emplace(key).second) {
          header_.metadata.emplace_back(key, text.string());
        } else {
          findings_.add(
              found(Code::unreadable,
                    fmt::format("__metadata__ has the key {} twice: only the first is used", key),
                    text.where()));
        }
      }
    } catch (const Error& error) {
      findings_.add(unreadable(error.at({{}, {}, "__metadata__"})));
    }
  }

  void entry(std::string& name, const Json& value) {
    try {
      parse(name, value);
    } catch (const Error& error) {
      ++header_.unreadable;
      findings_.add(unreadable(error.at({source_.where(0).file, value.offset(), {}}), name));
    }
  }

  void parse(std::string& name, const Json& value) {
    std::optional<Json> dtype, shape, offsets;
    for (const auto& [key, field] : value.members()) {
      std::optional<Json>* slot = key == "dtype"          ? &dtype
                                  : key == "shape"        ? &shape
                                  : key == "data_offsets" ? &offsets
                                                          : nullptr;
      if (slot == nullptr) field.fail(fmt::format("unknown field '{}' of a tensor", key));
      if (*slot) field.fail(fmt::format("field '{}' twice", key));
      *slot = field;
    }
    if (!dtype || !shape || !offsets) value.fail("a tensor needs dtype, shape and data_offsets");
    const Span span = span_of(*offsets, name);
    spans_.push_back(span);
    const std::optional<DType> type = dtype_of(dtype->string());
    if (!type) dtype->fail(fmt::format("dtype '{}' is not known", dtype->string()));
    Shape extents = shape_of(*shape);
    const std::uint64_t bits = checked_mul(checked_cast<std::uint64_t>(element_count(extents)),
                                           static_cast<std::uint64_t>(ttcheck::bits(*type)));
    if (bits % 8 != 0) shape->fail(fmt::format("{} bits are no whole number of bytes", bits));
    if (bits / 8 != span.end - span.begin) {
      offsets->fail(fmt::format("data_offsets span {} bytes, dtype and shape need {}",
                                span.end - span.begin, bits / 8));
    }
    if (span.end > buffer_) {
      throw Error(
          fmt::format("the tensor ends at {}, the file at {}: it is cut off",
                      checked_add(header_.data_begin, span.end), source_.size()),
          source_.where(std::min(checked_add(header_.data_begin, span.begin), source_.size())));
    }
    header_.tensors.push_back(
        {{}, *type, std::move(extents), checked_add(header_.data_begin, span.begin)});
    owners_.push_back(&name);
  }

  Span span_of(const Json& offsets, std::string_view name) const {
    const auto items = offsets.items();
    if (items.size() != 2) {
      offsets.fail(fmt::format("data_offsets has {} numbers, is [begin, end]", items.size()));
    }
    const auto begin = items.begin();
    const Span span = {(*begin).natural(), (*std::next(begin)).natural(), name};
    if (span.end < span.begin) {
      offsets.fail(
          fmt::format("data_offsets end at {}, before they begin at {}", span.end, span.begin));
    }
    static_cast<void>(checked_add(header_.data_begin, span.end));
    return span;
  }

  static Shape shape_of(const Json& shape) {
    const auto items = shape.items();
    const std::size_t dims = items.size();
    if (dims > kMaxDims) {
      shape.fail(fmt::format("{} dimensions, at most {} are read", dims, kMaxDims));
    }
    Shape extents;
    extents.reserve(dims);
    for (const Json& item : items) extents.push_back(checked_cast<std::int64_t>(item.natural()));
    return extents;
  }

  /// The spans must tile the buffer: gaps, bytes after the last and overlaps are found in one pass.
  /// Whether there are any of these.
  bool sweep() {
    std::erase_if(spans_, [](const Span& span) { return span.begin == span.end; });
    const auto by_place = [](const Span& a, const Span& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    };
    if (!std::ranges::is_sorted(spans_, by_place)) std::ranges::sort(spans_, by_place);
    std::uint64_t covered = 0;
    std::int64_t overlaps = 0;
    const Span* first = nullptr;
    for (const Span& span : spans_) {
      if (span.begin > covered) gap(covered, std::min(span.begin, buffer_), "no tensor owns bytes");
      if (span.begin < covered && overlaps++ == 0) first = &span;
      covered = std::max(covered, span.end);
    }
    gap(covered, buffer_, "no tensor owns the last bytes,");
    if (overlaps == 0) return false;
    findings_.add(found(
        Code::overlap,
        fmt::format("{} tensors begin inside the bytes of another, the first is '{}' at byte {}",
                    overlaps, first->name, first->begin),
        source_.where(checked_add(header_.data_begin, first->begin)), std::string(first->name)));
    return true;
  }

  /// Leaves out tensors whose bytes others claim twice already.
  void refuse_claims() {
    ClaimedBytes claims(buffer_);
    std::int64_t refused = 0;
    std::optional<Where> first;
    std::erase_if(header_.tensors, [&](const SafetensorsEntry& one) {
      if (claims.take(byte_size(one.dtype, element_count(one.shape)))) return false;
      if (refused++ == 0) {
        first = source_.where(one.begin);
        first->object = one.name;
      }
      return true;
    });
    if (refused == 0) return;
    header_.unreadable += refused;
    findings_.add(unreadable(Error(
        fmt::format("{} tensors are not read, whose bytes are other tensors', too: together they "
                    "claim more than {} times the bytes of all, {}",
                    refused, ClaimedBytes::kTimes, buffer_),
        *first)));
  }

  void gap(std::uint64_t begin, std::uint64_t end, std::string_view what) {
    if (begin >= end) return;
    header_.unclaimed = checked_add(header_.unclaimed, end - begin);
    findings_.add(found(Code::torn,
                        fmt::format("{} {} to {} of the file ({} bytes)", what,
                                    checked_add(header_.data_begin, begin),
                                    checked_add(header_.data_begin, end), end - begin),
                        source_.where(checked_add(header_.data_begin, begin))));
  }

  const Source& source_;
  std::uint64_t buffer_;
  SafetensorsHeader header_;
  Findings findings_;
  std::vector<Span> spans_;
  std::deque<Member> members_;        ///< the others refer to their names
  IndexTable seen_;                   ///< of members_
  std::vector<std::string*> owners_;  ///< of each tensor's name
};

/// The header's text. Throws when its claimed length cannot be true.
std::string header_text(const Source& source) {
  const Where start = source.where(0);
  if (source.size() < 8) {
    throw Error(fmt::format("a safetensors file has at least 8 bytes, this has {}", source.size()),
                start);
  }
  std::array<std::byte, 8> bytes{};
  source.read(0, bytes);
  const std::uint64_t length = Cursor(bytes, start.file).u64("header length");
  if (length > source.size() - 8) {
    throw Error(fmt::format("header of {} bytes is claimed, the file has {} after the length",
                            length, source.size() - 8),
                {start.file, 0, "header length"});
  }
  if (length > kMaxSafetensorsHeader) {
    throw Error(
        fmt::format("header of {} bytes, at most {} are read", length, kMaxSafetensorsHeader),
        {start.file, 0, "header length"});
  }
  std::string text;
  text.reserve(checked_add<std::size_t>(length, kJsonPadding));
  text.resize(length);
  source.read(8, std::as_writable_bytes(std::span(text)));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') {
    throw Error("the header is no JSON object",
                source.where(8 + (first == std::string::npos ? 0 : first)));
  }
  return text;
}

}  // namespace

SafetensorsHeader read_safetensors_header(const Source& source) {
  std::string text = header_text(source);
  const std::uint64_t data_begin = checked_add<std::uint64_t>(8, text.size());
  return Reader(source, data_begin).read(std::move(text));
}

}  // namespace ttcheck::formats
