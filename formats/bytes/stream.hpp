// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading a source front to back through a small window: what a parser uses where a Cursor would
// need the whole of a file in memory. Every read checks what remains and says what it wanted.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Numbers are little-endian. Offsets are those of the source. Every Error carries the file, the
/// offset where the field starts, and the bytes needed and left. REQUIRES that the source outlives
/// it.
class Stream {
 public:
  explicit Stream(const Source& source, std::uint64_t begin = 0);
  Stream(const Source& source, std::uint64_t begin, std::uint64_t end);

  const Source& source() const { return *source_; }
  std::uint64_t offset() const { return at_; }
  std::uint64_t remaining() const { return end_ - at_; }
  bool done() const { return at_ == end_; }

  std::uint8_t u8(std::string_view field) { return number<std::uint8_t>(field); }
  std::uint16_t u16(std::string_view field) { return number<std::uint16_t>(field); }
  std::uint32_t u32(std::string_view field) { return number<std::uint32_t>(field); }
  std::uint64_t u64(std::string_view field) { return number<std::uint64_t>(field); }
  std::uint64_t u64_big(std::string_view field) { return __builtin_bswap64(u64(field)); }
  /// Copies `count` bytes; memory grows only with bytes that are really there.
  std::string text(std::uint64_t count, std::string_view field);
  void text(std::uint64_t count, std::string_view field, std::string& out);
  /// Up to and without the next `\n`, which is consumed; throws when none is within `limit` bytes.
  /// However short the lines, no byte of the source is read more than twice for them.
  std::string line(std::size_t limit, std::string_view field);
  void skip(std::uint64_t count, std::string_view field);
  /// XXH3 of the next `count` bytes, which are consumed.
  std::uint64_t hash(std::uint64_t count, std::string_view field);

  [[noreturn]] void fail(const std::string& message, std::string_view field) const;

 private:
  void need(std::uint64_t count, std::string_view field) const;
  std::span<const std::byte> peek(std::size_t wanted);
  std::span<const std::byte> at_hand(std::size_t most) const;  ///< what the window holds of it

  bool holds(std::uint64_t count) const { return at_ < window_end_ && count <= window_end_ - at_; }

  template <class T>
  T number(std::string_view field) {
    if (!holds(sizeof(T))) [[unlikely]] {
      need(sizeof(T), field);
      peek(sizeof(T));
    }
    T value;
    std::memcpy(&value, window_.data() + (at_ - window_at_), sizeof value);
    at_ += sizeof value;
    return value;
  }

  const Source* source_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::vector<std::byte> window_;  ///< starts at or before `at_`, which only grows
  std::uint64_t window_at_ = 0;
  std::uint64_t window_end_ = 0;
};

}  // namespace ttcheck::formats
