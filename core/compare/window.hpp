#pragma once
// Small tensors that lie side by side in one source are read with one read.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/compare/ranges.hpp"

namespace ttcheck::compare {

/// The bytes of several tensors of one side, in a thread's buffer.
class Window {
 public:
  /// Nothing where they cannot be had with one read: another source, order or encoding, too far
  /// apart, or a read that fails; then each is to be read by itself, which says what is wrong.
  static std::optional<Window> read(std::span<const Tensor* const> tensors, Buffers& buffers,
                                    std::size_t which);

  /// The n-th tensor's bytes.
  std::span<std::byte> at(std::size_t n) const { return parts_[n]; }

 private:
  std::vector<std::span<std::byte>> parts_;
};

}  // namespace ttcheck::compare
