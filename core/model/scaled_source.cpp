// SPDX-License-Identifier: Apache-2.0
#include "core/model/scaled_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"

namespace ttcheck {
namespace {

constexpr std::int64_t kAtOnce = std::int64_t{1} << 16;  ///< elements

std::vector<double> values_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  std::vector<std::byte> bytes(byte_size(tensor.dtype, count));
  gather(tensor, begin, count, bytes);
  std::vector<double> values(static_cast<std::size_t>(count));
  to_doubles(tensor.dtype, bytes.data(), count, values.data());
  return values;
}

}  // namespace

ScaledSource::ScaledSource(Scaled scaled) : scaled_(std::move(scaled)) {
  const Shape& shape = scaled_.stored.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t block = scaled_.block[d];
    require(block > 0, "blocks of some extent");
    grid_.push_back(shape[d] / block + (shape[d] % block == 0 ? 0 : 1));
  }
  require(bits(scaled_.stored.dtype) == 8 && !is_complex(scaled_.scale.dtype),
          "8-bit numbers and real scales");
  if constexpr (kRequires) {
    require(element_count(scaled_.scale.shape) == element_count(grid_), "a scale for each block");
  }
  if (!shape.empty()) width_ = shape.back();
  size_ = byte_size(DType::f32, element_count(shape));
}

void ScaledSource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size_)) {
    throw Error(fmt::format("{} bytes are wanted at {}, there are {}", out.size(), offset, size_),
                where(0));
  }
  std::vector<float> values;
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t at = offset + done;
    const std::uint64_t within_first = at % sizeof(float);
    const auto begin = static_cast<std::int64_t>(at / sizeof(float));
    const std::uint64_t wanted = within_first + (out.size() - done);
    const auto last = static_cast<std::int64_t>((wanted + sizeof(float) - 1) / sizeof(float));
    values.resize(static_cast<std::size_t>(std::min(kAtOnce, last)));
    fill(begin, values);
    const std::size_t bytes =
        std::min(out.size() - done, values.size() * sizeof(float) - within_first);
    std::memcpy(out.data() + done, reinterpret_cast<const std::byte*>(values.data()) + within_first,
                bytes);
    done += bytes;
  }
}

/// The row of the grid, counted over its leading dimensions, that a row of the tensor lies in.
std::int64_t ScaledSource::grid_row(std::int64_t row) const {
  std::int64_t found = 0;
  std::int64_t step = 1;
  for (std::size_t d = grid_.size() - 1; d-- > 0;) {
    found += row % scaled_.stored.shape[d] / scaled_.block[d] * step;
    row /= scaled_.stored.shape[d];
    step *= grid_[d];
  }
  return found;
}

void ScaledSource::fill(std::int64_t begin, std::span<float> values) const {
  const auto count = std::ssize(values);
  if (count == 0) return;
  const std::vector<double> stored = values_of(scaled_.stored, begin, count);
  const std::int64_t columns = grid_.empty() ? 1 : grid_.back();
  const std::int64_t block = grid_.empty() ? 1 : scaled_.block.back();
  const std::int64_t first = begin / width_;
  const std::int64_t last = (begin + count - 1) / width_;
  std::vector<std::int64_t> rows;
  for (std::int64_t row = first; row <= last; ++row) {
    rows.push_back(grid_.empty() ? 0 : grid_row(row));
  }
  const auto [low, high] = std::ranges::minmax(rows);
  // Of one row only the part that is wanted: it may be long.
  const std::int64_t from = low * columns + (first == last ? begin % width_ / block : 0);
  const std::int64_t to =
      high * columns + (first == last ? (begin + count - 1) % width_ / block + 1 : columns);
  const std::vector<double> scales = values_of(scaled_.scale, from, to - from);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = (begin + i) / width_ - first;
    const std::int64_t at =
        rows[static_cast<std::size_t>(row)] * columns + (begin + i) % width_ / block - from;
    const double scale = scales[static_cast<std::size_t>(at)] * scaled_.factor;
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(stored[static_cast<std::size_t>(i)] * scale);
  }
}

bool ScaledSource::sequential() const {
  return std::ranges::any_of(scaled_.stored.pieces,
                             [](const Piece& piece) { return piece.source->sequential(); });
}

Where ScaledSource::where(std::uint64_t offset) const {
  if (scaled_.stored.pieces.empty()) return {};
  const Piece& piece = scaled_.stored.pieces.front();
  if (!piece.cells.empty()) return piece.where();
  return piece.source->where(piece.offset + offset / sizeof(float));
}

double largest_magnitude(const Tensor& tensor) {
  const std::int64_t all = element_count(tensor.shape);
  double largest = 0;
  for (std::int64_t begin = 0; begin < all; begin += kAtOnce) {
    for (const double value : values_of(tensor, begin, std::min(kAtOnce, all - begin))) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
  }
  return largest;
}

}  // namespace ttcheck
