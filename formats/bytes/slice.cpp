// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/slice.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/checked.hpp"

namespace ttcheck::formats {

Slice::Slice(const Source& whole, std::uint64_t begin, std::uint64_t size, std::string object)
    : whole_(&whole), begin_(begin), size_(size), object_(std::move(object)) {
  if (!within(begin, size, whole.size())) {
    throw Error(
        fmt::format("{} bytes from {} on are outside of {} bytes", size, begin, whole.size()),
        whole.where(0).object.empty() ? Where{whole.where(0).file, begin, object_}
                                      : whole.where(0));
  }
}

void Slice::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size_)) {
    throw Error(fmt::format("{} bytes are wanted at {}, there are {}", out.size(), offset, size_),
                where(offset));
  }
  whole_->read(begin_ + offset, out);
}

Where Slice::where(std::uint64_t offset) const {
  Where place = whole_->where(begin_ + offset);
  if (place.object.empty()) place.object = object_;
  return place;
}

}  // namespace ttcheck::formats
