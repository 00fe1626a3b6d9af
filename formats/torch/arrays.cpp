// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/arrays/npy_array.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/known.hpp"

namespace ttcheck::formats {
namespace {

/// The first index runs fastest.
Extents column_major_strides(const Shape& shape) {
  Shape turned(shape.rbegin(), shape.rend());
  Extents strides = row_major_strides(turned);
  std::ranges::reverse(strides);
  return strides;
}

std::optional<Record> record_of_array(const Leaf& leaf) {
  const auto array = numpy_array(leaf.value);
  if (!array || !array->range) return std::nullopt;
  const auto dtype = npy_dtype(array->descr);
  if (!dtype) return std::nullopt;
  const std::uint64_t needed = byte_size(*dtype, element_count(array->shape));
  if (array->range->size != needed) {
    throw Error(fmt::format("the array needs {} bytes, {} are there", needed, array->range->size),
                leaf.value.where());
  }
  Record record;
  record.identity.name = leaf.path;
  record.kind = kind_of_name(leaf.path);
  record.dtype = record.piece.dtype = *dtype;
  record.shape = array->shape;
  record.piece.source = &leaf.value.pickle().source();
  record.piece.offset = array->range->offset;
  record.piece.order = array->descr.starts_with('>') ? ByteOrder::big : ByteOrder::little;
  if (array->fortran && array->shape.size() > 1) {
    record.piece.cells.push_back({whole(array->shape), 0, column_major_strides(array->shape)});
  }
  return record;
}

}  // namespace

void arrays_to_records(std::vector<Leaf>& leaves, State& state) {
  std::erase_if(leaves, [&](const Leaf& leaf) {
    try {
      auto record = record_of_array(leaf);
      if (!record) return false;
      state.records.push_back(*std::move(record));
      return true;
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error, leaf.path));
      ++state.unreadable;
      return true;
    }
  });
}

}  // namespace ttcheck::formats
