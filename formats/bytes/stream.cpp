// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kWindow = 64 * 1024;

}  // namespace

Stream::Stream(const Source& source, std::uint64_t begin) : Stream(source, begin, source.size()) {}

Stream::Stream(const Source& source, std::uint64_t begin, std::uint64_t end)
    : source_(&source), at_(begin), end_(end) {
  if (begin > end || end > source.size()) {
    throw Error(fmt::format("range [{}, {}) is outside of {} bytes", begin, end, source.size()),
                source.where(0));
  }
}

void Stream::fail(const std::string& message, std::string_view field) const {
  Where where = source_->where(at_);
  if (!field.empty()) where.object = field;
  throw Error(message, std::move(where));
}

void Stream::need(std::uint64_t count, std::string_view field) const {
  if (count > end_ - at_) {
    fail(fmt::format("truncated: needs {} bytes, {} left", count, end_ - at_), field);
  }
}

std::span<const std::byte> Stream::peek(std::size_t wanted) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, end_ - at_));
  if (!holds(count)) {
    const std::uint64_t fill = std::min<std::uint64_t>(std::max(kWindow, count), end_ - at_);
    window_.resize(static_cast<std::size_t>(fill));
    window_at_ = at_;
    window_end_ = at_;
    source_->read(at_, window_);
    window_end_ += fill;
  }
  return std::span<const std::byte>(window_).subspan(static_cast<std::size_t>(at_ - window_at_),
                                                     count);
}

std::string Stream::text(std::uint64_t count, std::string_view field) {
  std::string out;
  text(count, field, out);
  return out;
}

void Stream::text(std::uint64_t count, std::string_view field, std::string& out) {
  need(count, field);
  out.clear();
  while (count > 0) {
    const std::span<const std::byte> part =
        peek(static_cast<std::size_t>(std::min<std::uint64_t>(count, kWindow)));
    out.append(reinterpret_cast<const char*>(part.data()), part.size());
    at_ += part.size();
    count -= part.size();
  }
}

std::span<const std::byte> Stream::at_hand(std::size_t most) const {
  if (!holds(1)) return {};
  return std::span<const std::byte>(window_).subspan(
      static_cast<std::size_t>(at_ - window_at_),
      static_cast<std::size_t>(std::min<std::uint64_t>(most, window_end_ - at_)));
}

std::string Stream::line(std::size_t limit, std::string_view field) {
  // The window is filled anew only for a line that it cuts, so that no byte is read for each line.
  std::span<const std::byte> part = at_hand(limit);
  const auto find = [&] { return std::ranges::find(part, std::byte{'\n'}); };
  if (find() == part.end()) part = peek(limit);
  const auto end = find();
  if (end == part.end()) fail(fmt::format("no end of line within {} bytes", part.size()), field);
  const auto length = static_cast<std::size_t>(end - part.begin());
  std::string out(reinterpret_cast<const char*>(part.data()), length);
  at_ += length + 1;
  return out;
}

void Stream::skip(std::uint64_t count, std::string_view field) {
  need(count, field);
  at_ += count;
}

std::uint64_t Stream::hash(std::uint64_t count, std::string_view field) {
  need(count, field);
  Digest digest;
  while (count > 0) {
    const std::span<const std::byte> part =
        peek(static_cast<std::size_t>(std::min<std::uint64_t>(count, kWindow)));
    digest.add(part);
    at_ += part.size();
    count -= part.size();
  }
  return digest.value();
}

}  // namespace ttcheck::formats
