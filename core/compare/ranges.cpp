#include "core/compare/ranges.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::size_t kRangeBytes = std::size_t{1} << 20;
constexpr std::size_t kStagger = 5 << 10;

}  // namespace

std::int64_t range_elements(DType a, DType b) {
  const auto widest = static_cast<std::size_t>(std::max(bits(a), bits(b)));
  const std::size_t elements = kRangeBytes * 8 / widest;
  return static_cast<std::int64_t>(elements / kBlock * kBlock);
}

Buffers::Buffers()
    : bytes_(std::make_unique_for_overwrite<std::byte[]>(3 * (kRangeBytes + kStagger))),
      scratch_(make_scratch()) {}

std::span<std::byte> Buffers::slice(std::size_t which, DType dtype, std::int64_t count) {
  return {bytes_.get() + which * (kRangeBytes + kStagger), byte_size(dtype, count)};
}

BufferPool::BufferPool() : all_(static_cast<std::size_t>(threads())) {}

Buffers& BufferPool::mine() {
  auto& buffers = all_[static_cast<std::size_t>(worker()) % all_.size()];
  if (!buffers) buffers = std::make_unique<Buffers>();
  return *buffers;
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
