#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/checked.hpp"
#include "formats/bytes/pickle_known.hpp"

namespace ttcheck::formats {
namespace {

/// Bytes of one element, by the digits at the end of the descr; a `U` counts characters of four.
std::uint64_t item_size(std::string_view descr) {
  std::uint64_t size = 0;
  const std::string_view digits = descr.substr(std::min<std::size_t>(descr.size(), 2));
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool whole = error == std::errc() && stop == digits.data() + digits.size();
  if (!whole || size == 0 || descr[1] == 'O') {
    throw Error(fmt::format("array of elements {} is no array of numbers", descr));
  }
  return descr[1] == 'U' ? checked_mul(size, std::uint64_t{4}) : size;
}

/// Bytes that are turned around together when the order is not little.
std::uint64_t swap_unit(char kind, std::uint64_t item) {
  if (kind == 'c') return item / 2;
  if (kind == 'U') return 4;
  return std::string_view("fiumM").find(kind) == std::string_view::npos ? 1 : item;
}

}  // namespace

std::vector<std::byte> canonical_bytes(const NumpyArray& array, const Source& source) {
  const std::uint64_t item = item_size(array.descr);
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
    const auto unit = static_cast<std::ptrdiff_t>(swap_unit(array.descr[1], item));
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
