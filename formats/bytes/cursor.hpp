// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bounded cursor over bytes in memory: every read checks what remains and says what it wanted.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace ttcheck::formats {

/// REQUIRES that the bytes outlive the cursor. Little-endian unless the name says otherwise.
class Cursor {
 public:
  /// `base` is the absolute file offset of bytes[0], for messages.
  Cursor(std::span<const std::byte> bytes, std::string file, std::uint64_t base = 0);

  std::uint64_t offset() const { return base_ + at_; }  ///< absolute
  std::size_t at() const { return at_; }                ///< from the start of the bytes
  std::size_t remaining() const { return bytes_.size() - at_; }
  bool done() const { return remaining() == 0; }

  std::uint8_t u8(std::string_view field);
  std::uint16_t u16(std::string_view field);
  std::uint32_t u32(std::string_view field);
  std::uint64_t u64(std::string_view field);
  std::uint64_t u64_big(std::string_view field);
  std::span<const std::byte> take(std::uint64_t count, std::string_view field);
  std::string_view text(std::uint64_t count, std::string_view field);
  /// Up to and without the next `\n`, which is consumed. Throws when none is within `limit` bytes.
  std::string_view line(std::size_t limit, std::string_view field);
  void skip(std::uint64_t count, std::string_view field);
  void seek(std::size_t at, std::string_view field);

  [[noreturn]] void fail(const std::string& message, std::string_view field) const;

 private:
  std::span<const std::byte> bytes_;
  std::string file_;
  std::uint64_t base_;
  std::size_t at_ = 0;
};

}  // namespace ttcheck::formats
