// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes in memory as a Source, for tests and fuzz targets.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/model/source.hpp"

namespace ttcheck::tests {

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::vector<std::byte> bytes, std::string name = "memory")
      : bytes_(std::move(bytes)), name_(std::move(name)) {}

  std::uint64_t size() const override { return bytes_.size(); }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!within(offset, out.size(), bytes_.size()))
      throw Error("read beyond the end", where(offset));
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

  Where where(std::uint64_t offset) const override { return {name_, offset, ""}; }

 private:
  std::vector<std::byte> bytes_;
  std::string name_;
};

}  // namespace ttcheck::tests
