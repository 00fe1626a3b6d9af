// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/checked.hpp"
#include "formats/objects/known.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;
constexpr std::uint64_t kLongestText = 1 << 20;  ///< bytes of one item of text or void

/// One element: its bytes, and how many of them are turned around together when the order is not
/// little; `unit` divides `size`.
struct Item {
  std::uint64_t size = 0;
  std::uint64_t unit = 1;
};

/// Kinds of numbers with the sizes that NumPy has of them, and the parts of one.
struct ArrayKind {
  char letter;
  std::uint64_t parts;
  std::array<std::uint64_t, 5> sizes;  ///< 0: none
};

constexpr std::array kArrayKinds = {
    ArrayKind{'b', 1, {1}},
    ArrayKind{'i', 1, {1, 2, 4, 8}},
    ArrayKind{'u', 1, {1, 2, 4, 8}},
    ArrayKind{'f', 1, {2, 4, 8, 12, 16}},
    ArrayKind{'c', 2, {8, 16, 24, 32}},
    ArrayKind{'m', 1, {8}},
    ArrayKind{'M', 1, {8}},
};

/// The element that a descr such as `<f4` names; text (`U` counts characters of four bytes) and
/// void may have any size.
Item item_of(std::string_view descr) {
  std::uint64_t size = 0;
  const std::string_view digits = descr.substr(std::min<std::size_t>(descr.size(), 2));
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool whole = error == std::errc() && stop == digits.data() + digits.size();
  const char letter = whole ? descr[1] : '\0';
  if (whole && size != 0 && size <= kLongestText) {
    if (letter == 'U') return {4 * size, 4};
    if (letter == 'S' || letter == 'V') return {size, 1};
    for (const ArrayKind& kind : kArrayKinds) {
      const bool known = std::ranges::find(kind.sizes, size) != kind.sizes.end();
      if (kind.letter == letter && known) return {size, size / kind.parts};
    }
  }
  throw Error(fmt::format("array of elements {} is no array of numbers", descr));
}

}  // namespace

std::vector<std::byte> canonical_bytes(const NumpyArray& array, const Source& source) {
  if (array.shape.size() > kMostDims) {
    throw Error(fmt::format("array has {} dimensions, {} at most are possible", array.shape.size(),
                            kMostDims));
  }
  const auto [item, turned] = item_of(array.descr);
  const auto count = static_cast<std::uint64_t>(element_count(array.shape));
  const std::uint64_t size = checked_mul(count, item);
  const std::uint64_t have = array.range ? array.range->size : array.decoded.size();
  if (size != have) throw Error(fmt::format("array needs {} bytes, has {}", size, have));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (array.range) {
    source.read(array.range->offset, bytes);
  } else {
    std::ranges::copy(std::as_bytes(std::span(array.decoded)), bytes.begin());
  }
  if (array.descr[0] == '>') {
    const auto unit = static_cast<std::ptrdiff_t>(turned);
    for (auto at = bytes.begin(); unit > 1 && at < bytes.end(); at += unit)
      std::reverse(at, at + unit);
  }
  if (!array.fortran || array.shape.size() < 2) return bytes;
  std::vector<std::byte> rows(bytes.size());
  const Extents strides = row_major_strides(Extents(array.shape.rbegin(), array.shape.rend()));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Extents index = unravel(array.shape, static_cast<std::int64_t>(i));
    std::int64_t from = 0;
    for (std::size_t d = 0; d < index.size(); ++d) from += index[d] * strides[index.size() - 1 - d];
    std::copy_n(bytes.begin() + from * static_cast<std::int64_t>(item), item,
                rows.begin() + static_cast<std::ptrdiff_t>(i * item));
  }
  return rows;
}

}  // namespace ttcheck::formats
