// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/operand.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/require.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"

namespace ttcheck::recompute {
namespace {

constexpr std::int64_t kChunk = 0x8000;  // elements decoded at a time

std::int64_t most_held(DType dtype) {
  return is_exact(dtype) ? Operand::kHeldIntegers : Operand::kHeld;
}

bool whole_bytes(DType dtype) { return bits(dtype) >= 8 && !is_complex(dtype); }

}  // namespace

bool Operand::readable(const Tensor& tensor) {
  if (!tensor.stored || !tensor.holes.empty() || tensor.undeclared || !whole_bytes(tensor.dtype)) {
    return false;
  }
  if (tensor.trace && (tensor.trace->grain > 0 || tensor.trace->left_out > 0)) return false;
  if (tensor.pieces.empty() && tensor.terms.empty()) return false;
  return element_count(tensor.shape) <= most_held(tensor.dtype) || !plan_of(tensor).sequential;
}

Operand::Operand(const Tensor& tensor, std::optional<std::int32_t> rank)
    : tensor_(tensor), count_(element_count(tensor.shape)) {
  if constexpr (kRequires) require(readable(tensor), "values that can be read in any order");
  if (rank) {
    own_ = tensor.pieces;
    for (const Piece& copy : tensor.replicas) {
      if (copy.rank == *rank) own_.push_back(copy);
    }
  }
  if (count_ > most_held(tensor.dtype)) return;
  std::vector<double> all(static_cast<std::size_t>(count_));
  read(0, all);
  held_ = std::move(all);
}

void Operand::read(std::int64_t begin, std::span<double> out) const {
  require(begin >= 0 && std::ssize(out) <= count_ - begin, "elements that exist");
  if (!held_.empty()) {
    std::memcpy(out.data(), held_.data() + begin, out.size_bytes());
    return;
  }
  std::vector<std::byte> stored;
  for (std::size_t at = 0; at < out.size();) {
    const auto count = std::min(kChunk, static_cast<std::int64_t>(out.size() - at));
    const std::int64_t from = begin + static_cast<std::int64_t>(at);
    stored.resize(byte_size(dtype(), count));
    if (own_.empty()) {
      gather(tensor_, from, count, stored);
    } else {
      gather(own_, dtype(), shape(), from, count, stored);
    }
    to_doubles(dtype(), stored.data(), count, out.data() + at);
    at += static_cast<std::size_t>(count);
  }
}

bool copies_differ(const Tensor& tensor) {
  const std::int64_t count = element_count(tensor.shape);
  std::vector<std::byte> first, other;
  for (const Piece& copy : tensor.replicas) {
    for (std::int64_t at = 0; at < count; at += kChunk) {
      const std::int64_t size = std::min(kChunk, count - at);
      first.resize(byte_size(tensor.dtype, size));
      gather(tensor, at, size, first);
      other = first;
      gather(std::span(&copy, 1), tensor.dtype, tensor.shape, at, size, other);
      if (first != other) return true;
    }
  }
  return false;
}

}  // namespace ttcheck::recompute
