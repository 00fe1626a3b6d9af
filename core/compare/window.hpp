// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small tensors that lie side by side in one source are read with one read.

#include <cstdint>
#include <optional>
#include <span>

#include "core/compare/ranges.hpp"

namespace ttcheck::compare {

/// The range of a source in which the bytes of several tensors of one side lie, if one read can
/// have them all.
class Window {
 public:
  /// Nothing where it cannot: another source, order or encoding, or too far apart.
  static std::optional<Window> over(std::span<const Tensor* const> tensors);

  /// Reads them into slice `which` of the buffers. Throws Error, with no word on whose bytes
  /// failed.
  void read(Buffers& buffers, std::size_t which);

  /// The n-th tensor's bytes. REQUIRES read().
  std::span<std::byte> at(std::size_t n) const;

 private:
  explicit Window(std::span<const Tensor* const> tensors) : tensors_(tensors) {}

  std::span<const Tensor* const> tensors_;
  std::uint64_t begin_ = 0, end_ = 0;  ///< in their source
  std::span<std::byte> bytes_;
};

}  // namespace ttcheck::compare
