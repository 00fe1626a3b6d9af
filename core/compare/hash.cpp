// SPDX-License-Identifier: Apache-2.0
#include "core/compare/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/compare/ranges.hpp"
#include "core/model/gather.hpp"

namespace ttcheck::compare {

namespace {

/// True when `bytes` hold `element` again and again. Elements of less than a byte count by bytes.
bool repeats(std::span<const std::byte> bytes, std::span<const std::byte> element) {
  const std::size_t size = element.size();
  return bytes.size() >= size && std::ranges::equal(bytes.first(size), element) &&
         std::ranges::equal(bytes.subspan(size), bytes.first(bytes.size() - size));
}

}  // namespace

Hash hash_of(const Tensor& tensor) { return hash_of_range(tensor, 0, element_count(tensor.shape)); }

Hash hash_of_range(const Tensor& tensor, std::int64_t from, std::int64_t count) {
  if (!tensor.holes.empty()) {
    throw Error("the tensor has holes", {.file = {}, .object = tensor.identity.name});
  }
  Digest digest;
  const std::int64_t end = from + count;
  const std::int64_t step = range_elements(tensor.dtype, tensor.dtype);
  Hash hash;
  std::vector<std::byte> first;
  for (std::int64_t begin = from; begin < end; begin += step) {
    const std::int64_t length = std::min(step, end - begin);
    const std::span<std::byte> bytes = Buffers::mine().a(tensor, begin, length);
    gather(tensor, begin, length, bytes);
    digest.add(bytes);
    if (begin == from) {
      const std::size_t element = std::max<std::size_t>(byte_size(tensor.dtype, 1), 1);
      first.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(element));
    }
    hash.constant = hash.constant && repeats(bytes, first);
  }
  hash.text = fmt::format("xxh3:{:016x}", digest.value());
  return hash;
}

}  // namespace ttcheck::compare
