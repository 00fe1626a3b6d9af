// SPDX-License-Identifier: Apache-2.0
#include "core/compare/ranges.hpp"

#include <algorithm>

#include "core/base/require.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::size_t kStagger = 5 << 10;
constexpr std::size_t kLine = 64;
constexpr std::size_t kAligned = 16;  // elements of every dtype keep their alignment
constexpr std::size_t kPage = 4096;

/// The byte of its source at which the range begins, as far as the first piece tells.
std::uint64_t first_byte(const Tensor& tensor, std::int64_t begin) {
  if (tensor.pieces.empty()) return 0;
  return tensor.pieces.front().offset + byte_size(tensor.dtype, begin);
}

}  // namespace

std::int64_t range_elements(DType a, DType b) {
  const auto widest = static_cast<std::size_t>(std::max(bits(a), bits(b)));
  const std::size_t elements = kRangeBytes * 8 / widest;
  return static_cast<std::int64_t>(elements / kBlock * kBlock);
}

Buffers::Buffers()
    : pages_(std::make_unique_for_overwrite<Page[]>(3 * (kRangeBytes + kStagger) / kPage + 1)),
      scratch_(make_scratch()) {}

std::span<std::byte> Buffers::a(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  return slice(0, first_byte(tensor, begin), byte_size(tensor.dtype, count));
}

std::span<std::byte> Buffers::b(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  return slice(1, first_byte(tensor, begin), byte_size(tensor.dtype, count));
}

std::span<std::byte> Buffers::replica(const Tensor& tensor, std::int64_t begin,
                                      std::int64_t count) {
  return slice(2, first_byte(tensor, begin), byte_size(tensor.dtype, count));
}

std::span<std::byte> Buffers::slice(std::size_t which, std::uint64_t from, std::size_t size) {
  require(size <= kRangeBytes, "at most a range");
  const std::size_t lead = from % kLine / kAligned * kAligned;
  auto* const start = reinterpret_cast<std::byte*>(pages_.get());
  return {start + which * (kRangeBytes + kStagger) + lead, size};
}

Buffers& Buffers::mine() {
  thread_local Buffers buffers;
  return buffers;
}

Rule rule_of(const Pair& pair, bool exact_sums) {
  require(pair.reference->shape == pair.candidate->shape, "equal shapes");
  Rule rule = rule_for(pair.reference->dtype, pair.candidate->dtype, exact_sums);
  if (pair.tolerance == nullptr) return rule;
  rule.rtol = pair.tolerance->rtol;
  rule.atol = pair.tolerance->atol;
  return rule;
}

void fetch(const Tensor& tensor, const ValueMap* map, std::int64_t begin, std::int64_t count,
           std::span<std::byte> out) {
  gather(tensor, begin, count, out);
  if (map != nullptr) apply(*map, tensor.dtype, count, out);
}

std::vector<LinearRange> holes_of(const Pair& pair, std::int64_t begin, std::int64_t end) {
  const auto& a = pair.reference->holes;
  const auto& b = pair.candidate->holes;
  if (a.empty() && b.empty()) return {};
  std::vector<Box> boxes = a;
  boxes.insert(boxes.end(), b.begin(), b.end());
  return ranges_in(boxes, pair.reference->shape, begin, end);
}

}  // namespace ttcheck::compare
