#include "core/compare/window.hpp"

#include <algorithm>

#include "core/base/checked.hpp"

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

std::optional<Window> Window::read(std::span<const Tensor* const> tensors, Buffers& buffers,
                                   std::size_t which) {
  const bool fit = std::ranges::all_of(tensors, [&](const Tensor* tensor) {
    return as_stored(*tensor) && tensor->pieces.front().source == tensors[0]->pieces[0].source;
  });
  if (!fit || tensors.empty()) return std::nullopt;
  std::uint64_t begin = tensors[0]->pieces[0].offset;
  std::uint64_t end = begin;
  std::uint64_t wanted = 0;
  for (const Tensor* tensor : tensors) {
    const std::uint64_t from = tensor->pieces[0].offset;
    begin = std::min(begin, from);
    end = std::max(end, checked_add(from, size_of(*tensor)));
    wanted = checked_add(wanted, size_of(*tensor));
  }
  if (end - begin > std::min<std::uint64_t>(2 * wanted, kRangeBytes)) return std::nullopt;
  const std::span<std::byte> bytes = buffers.slice(which, begin, end - begin);
  try {
    tensors[0]->pieces[0].source->read(begin, bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  Window window;
  window.parts_.reserve(tensors.size());
  for (const Tensor* tensor : tensors) {
    window.parts_.push_back(bytes.subspan(tensor->pieces[0].offset - begin, size_of(*tensor)));
  }
  return window;
}

}  // namespace ttcheck::compare
