// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes in memory that for a while cannot be read from some place on, as on a disk that fails.

#include <optional>
#include <utility>
#include <vector>

#include "tests/support/memory_source.hpp"

namespace ttcheck::tests {

class InterruptedSource final : public Source {
 public:
  explicit InterruptedSource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (fails_from && offset + out.size() > *fails_from) throw Error("unreadable", where(offset));
    bytes_.read(offset, out);
  }
  Where where(std::uint64_t offset) const override { return bytes_.where(offset); }

  std::optional<std::uint64_t> fails_from;  ///< none: all of it can be read

 private:
  MemorySource bytes_;
};

}  // namespace ttcheck::tests
