// SPDX-License-Identifier: Apache-2.0
#include "core/align/shared_storage.hpp"

#include <algorithm>

namespace ttcheck::align {
namespace {

constexpr std::size_t kMostTwins = 64;  // of one place that are looked at

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && a.dtype == b.dtype &&
         std::ranges::equal(a.pieces, b.pieces, [](const Piece& one, const Piece& other) {
           return one.source == other.source && one.offset == other.offset &&
                  one.dtype == other.dtype && one.cells == other.cells;
         });
}

}  // namespace

SharedStorage::SharedStorage(std::span<const Tensor> tensors, std::span<const std::size_t> alone)
    : tensors_(tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (std::ranges::binary_search(alone, i)) continue;
    const Tensor& tensor = tensors[i];
    const bool holds = tensor.stored && !tensor.pieces.empty() &&
                       tensor.pieces[0].source != nullptr && element_count(tensor.shape) > 0;
    if (holds) by_offset_.emplace(tensor.pieces[0].offset, i);
  }
}

const Tensor* SharedStorage::twin_of(std::size_t i) const {
  const Tensor& tensor = tensors_[i];
  if (tensor.pieces.empty()) return nullptr;
  const auto [begin, end] = by_offset_.equal_range(tensor.pieces[0].offset);
  const Tensor* twin = nullptr;
  std::size_t seen = 0;
  for (auto at = begin; at != end && seen < kMostTwins; ++at, ++seen) {
    const Tensor& other = tensors_[at->second];
    if (!same_bytes(tensor, other)) continue;
    if (twin == nullptr || other.identity.name < twin->identity.name) twin = &other;
  }
  return twin;
}

}  // namespace ttcheck::align
