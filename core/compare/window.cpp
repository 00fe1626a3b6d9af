// SPDX-License-Identifier: Apache-2.0
#include "core/compare/window.hpp"

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"

namespace ttcheck::compare {
namespace {

/// True when the tensor's bytes stand in its one source just as they are compared.
bool as_stored(const Tensor& tensor) {
  if (tensor.pieces.size() != 1 || tensor.reduce != Reduce::none || !tensor.holes.empty()) {
    return false;
  }
  const Piece& piece = tensor.pieces.front();
  return piece.source != nullptr && !piece.source->sequential() && piece.cells.empty() &&
         piece.dtype == tensor.dtype && piece.order == ByteOrder::little &&
         piece.flag == ValueFlag::none;
}

std::uint64_t size_of(const Tensor& tensor) {
  return byte_size(tensor.dtype, element_count(tensor.shape));
}

}  // namespace

std::optional<Window> Window::over(std::span<const Tensor* const> tensors) {
  if (tensors.empty() || !std::ranges::all_of(tensors, [&](const Tensor* tensor) {
        return as_stored(*tensor) && tensor->pieces[0].source == tensors[0]->pieces[0].source;
      })) {
    return std::nullopt;
  }
  Window window(tensors);
  window.begin_ = tensors[0]->pieces[0].offset;
  std::uint64_t wanted = 0;
  for (const Tensor* tensor : tensors) {
    const std::uint64_t from = tensor->pieces[0].offset;
    const std::uint64_t size = size_of(*tensor);
    if (!within(from, size, tensor->pieces[0].source->size())) return std::nullopt;
    window.begin_ = std::min(window.begin_, from);
    window.end_ = std::max(window.end_, from + size);
    wanted = checked_add(wanted, size);
  }
  if (window.end_ - window.begin_ > std::min<std::uint64_t>(2 * wanted, kRangeBytes)) {
    return std::nullopt;
  }
  return window;
}

void Window::read(Buffers& buffers, std::size_t which) {
  bytes_ = buffers.slice(which, begin_, end_ - begin_);
  tensors_[0]->pieces[0].source->read(begin_, bytes_);
}

std::span<std::byte> Window::at(std::size_t n) const {
  require(bytes_.size() == end_ - begin_, "a window that was read");
  return bytes_.subspan(tensors_[n]->pieces[0].offset - begin_, size_of(*tensors_[n]));
}

}  // namespace ttcheck::compare
