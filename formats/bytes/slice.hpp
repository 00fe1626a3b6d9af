// SPDX-License-Identifier: Apache-2.0
#pragma once
// A part of another source: a stored member of an archive, a storage within a stream.

#include <string>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Bytes [begin, begin + size) of `whole`, which must outlive it. Throws Error when that is not
/// within `whole`. Places are the whole's, with `object` where it names none.
class Slice : public Source {
 public:
  Slice(const Source& whole, std::uint64_t begin, std::uint64_t size, std::string object);

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  bool sequential() const override { return whole_->sequential(); }
  Where where(std::uint64_t offset) const override;

 private:
  const Source* whole_;
  std::uint64_t begin_;
  std::uint64_t size_;
  std::string object_;
};

}  // namespace ttcheck::formats
