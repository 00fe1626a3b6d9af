// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fp32 way of measuring blocks.
//
// A block goes through the kernel as it is. Where its sums of squares overflowed, met NaN, or are
// so small that squares may have lost bits, it is measured again: widened to f32, cleared of what
// is not finite, and, if all of it is tiny, multiplied by a power of two. Only if that does not
// help is it summed in fp64. Every decision depends on the block's values alone. After such a block
// the next one skips the first attempt where its peaks prove that it would fail, so that a tensor
// full of NaN or 1e-20 costs little more than an ordinary one.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/compare/rule.hpp"
#include "core/compare/wide.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

class Narrow {
 public:
  /// All three outlive this.
  Narrow(const Rule& rule, Scratch& scratch, Metrics& metrics)
      : rule_(rule), scratch_(scratch), metrics_(metrics) {}

  /// `count` elements, the first with logical index `base`; one byte a code for packed dtypes.
  /// REQUIRES !rule.wide.
  void block(const std::byte* a, const std::byte* b, std::int64_t base, int count);

 private:
  struct Read;
  struct Input;

  Read readable(DType dtype, const std::byte* from, int count, float* out) const;
  bool is_equal(Input& in) const;
  bool add_equal(const Input& in);
  bool add_square(const Input& in);
  BlockResult empty_result() const;
  BlockResult run_pair(const Input& in) const;
  bool good(const BlockResult& result, bool zero_a, bool zero_b) const;
  void second_attempt(Input& in, const std::optional<BlockResult>& tried);
  void measure_scaled(Input& in, std::uint32_t peak_a, std::uint32_t peak_b);
  void sum_wide(Input& in);
  void widen_sides(Input& in) const;
  void accept(Input& in, const BlockResult& result, double scale);
  void count_classes(const Input& in, const Classes& classes);
  bool counts_codes() const;
  int unequal_codes(const Input& in) const;

  const Rule& rule_;
  Scratch& scratch_;
  Metrics& metrics_;
  float rel_ = 0;         ///< running maximum of the kernel
  bool wary_ = false;     ///< the last block's first attempt failed
  bool cleared_ = false;  ///< the floats of this block lack what was not finite
};

}  // namespace ttcheck::compare
