// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

template <class T>
T little(std::span<const std::byte> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[i]) << (8 * i)));
  }
  return value;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Cursor::Cursor(std::span<const std::byte> bytes, std::string file, std::uint64_t base)
    : bytes_(bytes), file_(std::move(file)), base_(base) {
  static_cast<void>(checked_add<std::uint64_t>(base, bytes.size()));
}

std::span<const std::byte> Cursor::take(std::uint64_t count, std::string_view field) {
  if (count > remaining()) {
    fail(fmt::format("{} bytes are wanted, {} are left", count, remaining()), field);
  }
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
  at_ += taken.size();
  return taken;
}

std::uint8_t Cursor::u8(std::string_view field) {
  return static_cast<std::uint8_t>(take(1, field).front());
}
std::uint16_t Cursor::u16(std::string_view field) { return little<std::uint16_t>(take(2, field)); }
std::uint32_t Cursor::u32(std::string_view field) { return little<std::uint32_t>(take(4, field)); }
std::uint64_t Cursor::u64(std::string_view field) { return little<std::uint64_t>(take(8, field)); }

std::uint64_t Cursor::u64_big(std::string_view field) {
  return __builtin_bswap64(little<std::uint64_t>(take(8, field)));
}

std::string_view Cursor::text(std::uint64_t count, std::string_view field) {
  return as_text(take(count, field));
}

std::string_view Cursor::line(std::size_t limit, std::string_view field) {
  const std::string_view ahead = as_text(bytes_.subspan(at_, std::min(limit, remaining())));
  const std::size_t end = ahead.find('\n');
  if (end == std::string_view::npos) {
    fail(fmt::format("no end of line within {} bytes", ahead.size()), field);
  }
  at_ += end + 1;
  return ahead.substr(0, end);
}

void Cursor::skip(std::uint64_t count, std::string_view field) {
  static_cast<void>(take(count, field));
}

void Cursor::seek(std::size_t at, std::string_view field) {
  if (at > bytes_.size()) {
    fail(fmt::format("position {} is beyond the end, {}", at, bytes_.size()), field);
  }
  at_ = at;
}

void Cursor::fail(const std::string& message, std::string_view field) const {
  throw Error(message, {file_, offset(), std::string(field)});
}

}  // namespace ttcheck::formats
