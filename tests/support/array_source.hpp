// SPDX-License-Identifier: Apache-2.0
#pragma once
// An array in memory as a Source that can fail or forbid seeking, and tensors that hold it.

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/base/checked.hpp"
#include "core/model/source.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::tests {

class ArraySource : public Source {
 public:
  explicit ArraySource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  static ArraySource of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return ArraySource(std::move(bytes));
  }

  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!within(offset, out.size(), bytes_.size()))
      throw Error("range ends beyond the file", where(offset));
    if (broken_from < offset + out.size() && offset < broken_to)
      throw Error("broken sector", where(offset));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  bool sequential() const override { return in_order; }
  Where where(std::uint64_t offset) const override { return {"memory", offset, ""}; }

  std::span<std::byte> bytes() { return bytes_; }

  bool in_order = false;
  std::uint64_t broken_from = UINT64_MAX, broken_to = 0;

 private:
  std::vector<std::byte> bytes_;
};

/// All of `source`, row-major.
inline Tensor tensor_of(const Source& source, DType dtype, Shape shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  Piece piece;
  piece.source = &source;
  piece.dtype = dtype;
  tensor.pieces.push_back(piece);
  return tensor;
}

}  // namespace ttcheck::tests
