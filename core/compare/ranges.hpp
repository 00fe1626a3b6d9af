// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a pair is cut into logical ranges, and the per-thread buffers they are read into. The cuts
// depend on dtypes and shape alone, so results depend on nothing else.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/compare/measure.hpp"
#include "core/compare/pair.hpp"

namespace ttcheck::compare {

/// Elements of one range of a pair: 1 MiB of the wider dtype, a multiple of kBlock.
std::int64_t range_elements(DType a, DType b);

inline constexpr std::size_t kRangeBytes = std::size_t{1} << 20;

/// Three slices of kRangeBytes: for A, for B, and to compare replicas in. They stand a few KiB
/// apart from page alignment, so that the streams do not fall on the same cache sets.
class Buffers {
 public:
  /// The calling thread's, made when first asked for and kept for its life.
  static Buffers& mine();

  /// Room for elements [begin, begin + count) of a tensor.
  std::span<std::byte> a(const Tensor& tensor, std::int64_t begin, std::int64_t count);
  std::span<std::byte> b(const Tensor& tensor, std::int64_t begin, std::int64_t count);
  std::span<std::byte> replica(const Tensor& tensor, std::int64_t begin, std::int64_t count);

  /// Room in slice `which` (0: A, 1: B) for bytes that start at `from` of their source. Placed such
  /// that both ends of the copy fall on the same bytes of a cache line: some processors copy four
  /// times slower to an address a few bytes beyond its source's place in the page.
  /// REQUIRES size <= kRangeBytes.
  std::span<std::byte> slice(std::size_t which, std::uint64_t from, std::size_t size);

  Scratch& scratch() { return *scratch_; }

 private:
  Buffers();

  struct alignas(4096) Page {
    std::byte bytes[4096];  // NOLINT(modernize-avoid-c-arrays): never initialised
  };

  std::unique_ptr<Page[]> pages_;
  ScratchPtr scratch_;
};

/// What stays the same over a pair.
Rule rule_of(const Pair& pair, bool exact_sums);

/// `gather`, then the side's value map, if any.
void fetch(const Tensor& tensor, const ValueMap* map, std::int64_t begin, std::int64_t count,
           std::span<std::byte> out);

/// The holes of both sides within [begin, end).
std::vector<LinearRange> holes_of(const Pair& pair, std::int64_t begin, std::int64_t end);

}  // namespace ttcheck::compare
