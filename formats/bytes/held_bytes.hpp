// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes that stood in a file as something else, text for one, and were decoded when it was read.

#include <cstddef>
#include <utility>
#include <vector>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Holds its bytes. Every place in it is that of the text they came from.
class HeldBytes final : public Source {
 public:
  HeldBytes(std::vector<std::byte> bytes, Where where)
      : bytes_(std::move(bytes)), where_(std::move(where)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  Where where(std::uint64_t) const override { return where_; }

 private:
  std::vector<std::byte> bytes_;
  Where where_;
};

}  // namespace ttcheck::formats
