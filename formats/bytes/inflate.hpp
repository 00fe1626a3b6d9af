// SPDX-License-Identifier: Apache-2.0
#pragma once
// A deflated run of bytes as a source. It is decoded as a stream: reading on is cheap. Whoever
// reads back makes it keep the last block, and marks at which decoding can go on, so that a read
// costs a block at most, in whatever order.

#include <memory>
#include <string>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Raw deflate data, `packed` bytes from `begin` on in `whole` (which must outlive it), said to
/// hold `size` bytes. Only bytes that the stream really yields exist: reading beyond them, a stream
/// that is longer than `size`, and bad codes throw Error. Memory is fixed,
/// whatever the sizes claim; once read back, a block and 1 % of what was decoded.
class Inflate : public Source {
 public:
  Inflate(const Source& whole, std::uint64_t begin, std::uint64_t packed, std::uint64_t size,
          std::string object);
  ~Inflate() override;

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  bool sequential() const override { return true; }
  Where where(std::uint64_t offset) const override;  ///< the start of the packed bytes

 private:
  struct Decoder;
  const Source* whole_;
  std::uint64_t begin_, packed_, size_;
  std::string object_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace ttcheck::formats
