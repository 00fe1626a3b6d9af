// SPDX-License-Identifier: Apache-2.0
#include "core/diff/as_recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"
#include "core/base/interrupted.hpp"
#include "core/compare/compare.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::int64_t kRange = 1 << 16;  ///< elements; a multiple of 8 for packed types

/// The extents of the piece's local array where its bytes are that array, row-major; else nothing.
std::optional<Shape> dense_shape(const Piece& piece, const Shape& whole) {
  if (piece.order != ByteOrder::little || piece.flag != ValueFlag::none) return std::nullopt;
  if (piece.cells.empty()) return whole;
  if (piece.cells.size() > 1 || piece.cells[0].start != 0) return std::nullopt;
  const Cell& cell = piece.cells[0];
  const Extents dense = row_major_strides(cell.box.size);
  for (std::size_t d = 0; d < dense.size(); ++d) {
    if (cell.box.size[d] > 1 && cell.strides[d] != dense[d]) return std::nullopt;
  }
  return Shape(cell.box.size.begin(), cell.box.size.end());
}

/// Sums of finite numbers in their order.
class Statistics {
 public:
  void add(std::span<const double> values) {
    for (const double value : values) {
      finite_ = finite_ && std::isfinite(value);
      least_ = count_ == 0 ? value : std::min(least_, value);
      most_ = count_ == 0 ? value : std::max(most_, value);
      sum_ += value;
      sum_abs_ += std::abs(value);
      sum_squares_ += value * value;
      ++count_;
    }
  }

  std::optional<StoredStats> take(bool sums) const {
    if (!finite_ || count_ == 0) return std::nullopt;
    if (!sums) return StoredStats{least_, most_, {}, {}, 0, 0, count_, {}};
    return StoredStats{
        least_, most_,   sum_ / static_cast<double>(count_), std::sqrt(sum_squares_), 0, 0,
        count_, sum_abs_};
  }

 private:
  bool finite_ = true;
  double least_ = 0, most_ = 0, sum_ = 0, sum_abs_ = 0, sum_squares_ = 0;
  std::int64_t count_ = 0;
};

std::shared_ptr<const TraceRecord> record_of(const Piece& piece, const Tensor& tensor, bool sums) {
  auto record =
      tensor.trace ? std::make_shared<TraceRecord>(*tensor.trace) : std::make_shared<TraceRecord>();
  record->hash.clear();
  record->stats.reset();
  const auto shape = dense_shape(piece, tensor.shape);
  if (!shape) return record;
  const std::int64_t count = element_count(*shape);
  Digest digest;
  Statistics statistics;
  std::vector<std::byte> bytes;
  std::vector<double> values;
  const bool real = !is_complex(piece.dtype);
  for (std::int64_t begin = 0; begin < count; begin += kRange) {
    if (interrupted() != 0) throw compare::Stopped();
    const std::int64_t size = std::min(kRange, count - begin);
    bytes.resize(byte_size(piece.dtype, size));
    piece.source->read(checked_add(piece.offset, byte_size(piece.dtype, begin)), bytes);
    digest.add(bytes);
    if (!real) continue;
    values.resize(static_cast<std::size_t>(size));
    to_doubles(piece.dtype, bytes.data(), size, values.data());
    statistics.add(values);
  }
  record->hash = fmt::format("xxh3:{:016x}", digest.value());
  record->stats = statistics.take(sums);
  return record;
}

}  // namespace

Tensor as_recorded(const Tensor& stored, bool sums) {
  Tensor recorded = stored;
  recorded.stored = false;
  recorded.recorded.clear();
  for (const auto* pieces : {&stored.pieces, &stored.replicas}) {
    for (const Piece& piece : *pieces) {
      recorded.recorded.emplace_back(piece.rank, record_of(piece, stored, sums));
    }
  }
  std::ranges::stable_sort(recorded.recorded, {}, [](const auto& one) { return one.first; });
  if (recorded.recorded.empty()) return recorded;
  recorded.trace = recorded.recorded.front().second;
  if (recorded.recorded.size() == 1) recorded.recorded.clear();
  return recorded;
}

}  // namespace ttcheck::diff
