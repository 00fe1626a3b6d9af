// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of a tensor that was stored in few bits with a scale for each of its blocks (fp8 and
// int8 checkpoints), as fp32: stored number x scale of its block x factor.

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/source.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck {

/// A tensor of 8-bit numbers and the scales of its blocks.
struct Scaled {
  Tensor stored;
  Tensor scale;       ///< one number a block, row-major over the grid of blocks
  Extents block;      ///< extents of one, by dimension of `stored`; the last ones may be cut short
  double factor = 1;  ///< of all scales alike
};

/// Row-major fp32, computed in double and rounded once: what a multiplication in fp32 gives, too.
/// Nothing is kept; a read takes a few MiB. What the tensors' pieces refer to must outlive it.
class ScaledSource final : public Source {
 public:
  /// REQUIRES 8-bit numbers in `stored`, real ones in `scale`, block extents above 0, and as many
  /// scales as blocks.
  explicit ScaledSource(Scaled scaled);

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  bool sequential() const override;
  Where where(std::uint64_t offset) const override;

 private:
  void fill(std::int64_t begin, std::span<float> values) const;
  std::int64_t grid_row(std::int64_t row) const;

  Scaled scaled_;
  Extents grid_;  ///< blocks by dimension
  std::int64_t width_ = 1;
  std::uint64_t size_ = 0;
};

/// The largest finite magnitude of a tensor of real numbers; 0 where there is none. Throws Error.
double largest_magnitude(const Tensor& tensor);

}  // namespace ttcheck
