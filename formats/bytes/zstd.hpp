// SPDX-License-Identifier: Apache-2.0
#pragma once
// Zstandard frames as a source. Decoded as a stream: reading on is cheap, reading back starts
// again, but for both ends, which are kept while something is parsed that lies there.

#include <memory>
#include <string>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// All frames in `whole`, which must outlive it. Frames need not say how much they hold, so that
/// everything is decoded once to find out. Bytes after the last frame and bad frames throw Error.
class Zstd : public Source {
 public:
  /// Throws Error when more than `limit` bytes come out.
  Zstd(const Source& whole, std::uint64_t limit, std::string object);
  ~Zstd() override;

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  bool sequential() const override { return true; }
  Where where(std::uint64_t offset) const override;  ///< the start of the packed bytes

  /// Frees the kept ends; the rest of the memory is freed whenever the last byte has been read.
  void forget_ends();

 private:
  struct Decoder;
  Where where_packed(std::uint64_t at) const;

  const Source* whole_;
  std::string object_;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t size_ = 0;
};

}  // namespace ttcheck::formats
