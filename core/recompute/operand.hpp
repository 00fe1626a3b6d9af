// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor that an op consumed or made, as doubles.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"

namespace ttcheck::recompute {

/// Reads values by ranges of the logical row-major order. A small tensor is read once and kept, a
/// larger one again and again. Safe to use from several threads.
class Operand {
 public:
  static constexpr std::int64_t kHeld = 1 << 17;          ///< most elements that are kept
  static constexpr std::int64_t kHeldIntegers = 1 << 20;  ///< of ids and labels

  /// True where all values are there, are no complex numbers, and can be read in any order.
  static bool readable(const Tensor& tensor);

  /// REQUIRES readable(tensor), and that it outlives this. With a rank, values are those that the
  /// rank itself holds where it holds a copy. Throws Error where bytes cannot be read.
  explicit Operand(const Tensor& tensor, std::optional<std::int32_t> rank = {});

  const Tensor& tensor() const { return tensor_; }
  const Shape& shape() const { return tensor_.shape; }
  DType dtype() const { return tensor_.dtype; }
  std::int64_t count() const { return count_; }
  std::int64_t width() const { return tensor_.shape.empty() ? 1 : tensor_.shape.back(); }
  std::int64_t rows() const { return width() == 0 ? 0 : count_ / width(); }

  /// Elements [begin, begin + out.size()). REQUIRES that they exist.
  void read(std::int64_t begin, std::span<double> out) const;

  /// All of them where they are kept; else nothing.
  std::span<const double> held() const { return held_; }

 private:
  const Tensor& tensor_;
  std::vector<Piece> own_;  ///< pieces, then the rank's copies, which count
  std::int64_t count_ = 0;
  std::vector<double> held_;
};

/// True where copies of the tensor's pieces are not the same to the bit. Throws Error.
bool copies_differ(const Tensor& tensor);

}  // namespace ttcheck::recompute
