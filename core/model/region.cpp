// SPDX-License-Identifier: Apache-2.0
// A region is a nest of loops over the storage. Sorted by stride, the inner loops span a stretch of
// the storage that is fetched at once; the outer ones move that stretch. Two neighbouring stretches
// are fetched together while what lies between them costs less than another read.

#include "core/model/region.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"
#include "core/model/value_flag.hpp"

namespace ttcheck {
namespace {

constexpr std::int64_t kSlabBytes = 256 << 10;
constexpr std::int64_t kGapBytes = 4 << 10;  // about what a read costs, in bytes of page cache

template <class T>
void reverse_bytes(std::byte* at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(at, &value, sizeof value);
  }
}

void to_little(DType dtype, std::span<std::byte> bytes) {
  switch (bits(part_of(dtype))) {
    case 16:
      return reverse_bytes<std::uint16_t>(bytes.data(), bytes.size() / 2);
    case 32:
      return reverse_bytes<std::uint32_t>(bytes.data(), bytes.size() / 4);
    case 64:
      return reverse_bytes<std::uint64_t>(bytes.data(), bytes.size() / 8);
    default:
      return;
  }
}

/// Two's complement of each little-endian integer of `width` bytes.
void negate_integers(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    value = ~value + 1;
    std::memcpy(bytes.data() + at, &value, width);
  }
}

/// Negates codes of types whose only zero is 0 and whose only NaN is what -0 would be.
void negate_fnuz(std::span<std::byte> bytes) {
  for (std::byte& code : bytes) {
    if ((code & std::byte{0x7f}) != std::byte{0}) code ^= std::byte{0x80};
  }
}

/// Flips the sign of each number of `width` bytes, from the one at `first`, every `step` bytes.
void flip_signs(std::span<std::byte> bytes, std::size_t width, std::size_t first,
                std::size_t step) {
  for (std::size_t at = first + width - 1; at < bytes.size(); at += step)
    bytes[at] ^= std::byte{0x80};
}

void apply_flags(DType dtype, ValueFlag flags, std::span<std::byte> bytes) {
  const auto width = static_cast<std::size_t>(bits(part_of(dtype))) / 8;
  if (has_flag(flags, ValueFlag::conjugate) && is_complex(dtype)) {
    flip_signs(bytes, width, width, 2 * width);
  }
  if (!has_flag(flags, ValueFlag::negate)) return;
  if (is_exact(dtype)) {
    negate_integers(bytes, width);
  } else if (dtype == DType::f8_e4m3fnuz || dtype == DType::f8_e5m2fnuz) {
    negate_fnuz(bytes);
  } else {
    flip_signs(bytes, width, 0, width);
  }
}

/// One fetched stretch: elements from `low` on.
struct Slab {
  std::vector<std::byte> bytes;
  std::int64_t low = 0;
};

/// Reads elements [low, low + count) of the piece's storage. Packed dtypes come out one code a
/// byte.
void fetch(const Piece& piece, std::int64_t low, std::int64_t count, std::span<std::byte> out) {
  const auto width = static_cast<std::uint64_t>(bits(piece.dtype));
  const auto first = checked_cast<std::uint64_t>(low);
  if (width < 8) {
    const std::uint64_t from = checked_mul(first / 8, width);  // 8 elements fill whole bytes
    const auto skip = static_cast<std::int64_t>(first % 8);
    std::vector<std::byte> packed(byte_size(piece.dtype, skip + count));
    piece.source->read(checked_add(piece.offset, from), packed);
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(skip + count));
    unpack(piece.dtype, packed.data(), skip + count, codes.data());
    std::memcpy(out.data(), codes.data() + skip, static_cast<std::size_t>(count));
    return;
  }
  piece.source->read(checked_add(piece.offset, checked_mul(first, width / 8)), out);
  if (piece.order == ByteOrder::big) to_little(piece.dtype, out);
  if (piece.flag != ValueFlag::none) apply_flags(piece.dtype, piece.flag, out);
}

template <std::size_t kWidth>
void scatter(std::span<const RegionDim> dims, const std::byte* from, std::byte* to) {
  if (dims.empty()) {
    std::memcpy(to, from, kWidth);
    return;
  }
  constexpr auto kStep = static_cast<std::int64_t>(kWidth);
  const RegionDim& inner = dims.back();
  if (dims.size() == 1) {
    if (inner.from == 1 && inner.to == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(inner.size) * kWidth);
      return;
    }
    for (std::int64_t i = 0; i < inner.size; ++i) {
      std::memcpy(to + i * inner.to * kStep, from + i * inner.from * kStep, kWidth);
    }
    return;
  }
  const RegionDim& outer = dims.front();
  for (std::int64_t i = 0; i < outer.size; ++i) {
    scatter<kWidth>(dims.subspan(1), from + i * outer.from * kStep, to + i * outer.to * kStep);
  }
}

void scatter(std::size_t width, std::span<const RegionDim> dims, const std::byte* from,
             std::byte* to) {
  switch (width) {
    case 1:
      return scatter<1>(dims, from, to);
    case 2:
      return scatter<2>(dims, from, to);
    case 4:
      return scatter<4>(dims, from, to);
    case 8:
      return scatter<8>(dims, from, to);
    default:
      return scatter<16>(dims, from, to);
  }
}

/// Walks one region: dims are sorted by stride in the storage, widest first.
class Walk {
 public:
  Walk(const Piece& piece, std::vector<RegionDim> dims, std::span<std::byte> out)
      : piece_(piece),
        width_(std::max<std::int64_t>(bits(piece.dtype) / 8, 1)),
        dims_(std::move(dims)),
        reach_(dims_.size() + 1, 1),
        out_(out) {
    for (std::size_t d = dims_.size(); d-- > 0;) {
      reach_[d] =
          checked_add(reach_[d + 1], checked_mul(dims_[d].size - 1, std::abs(dims_[d].from)));
    }
  }

  /// Dims from `d` on, at storage element `from` and buffer place `to`. Depth is the number of
  /// dims.
  void descend(std::size_t d, std::int64_t from, std::int64_t to) {
    if (d == dims_.size()) return take({}, from, to);
    const RegionDim& dim = dims_[d];
    const std::int64_t stride = std::abs(dim.from);
    const std::int64_t gap = (stride - reach_[d + 1]) * width_;
    const std::int64_t room = kSlabBytes / width_ - reach_[d + 1];
    if (gap > kGapBytes || room < 0) {
      for (std::int64_t i = 0; i < dim.size; ++i) {
        descend(d + 1, from + i * dim.from, to + i * dim.to);
      }
      return;
    }
    const std::int64_t step = stride == 0 ? dim.size : room / stride + 1;
    for (std::int64_t i = 0; i < dim.size; i += step) {
      std::vector<RegionDim> dims(dims_.begin() + static_cast<std::ptrdiff_t>(d), dims_.end());
      dims.front().size = std::min(step, dim.size - i);
      take(std::move(dims), from + i * dim.from, to + i * dim.to);
    }
  }

 private:
  /// Fetches all that `dims` reach at once, and copies it out.
  void take(std::vector<RegionDim> dims, std::int64_t from, std::int64_t to) {
    std::int64_t low = from;
    std::int64_t high = from;
    for (const RegionDim& dim : dims) {
      (dim.from < 0 ? low : high) += (dim.size - 1) * dim.from;
    }
    slab_.resize(static_cast<std::size_t>((high - low + 1) * width_));
    fetch(piece_, low, high - low + 1, slab_);
    std::ranges::stable_sort(dims, std::ranges::greater{}, &RegionDim::to);
    scatter(static_cast<std::size_t>(width_), dims, slab_.data() + (from - low) * width_,
            out_.data() + to * width_);
  }

  const Piece& piece_;
  std::int64_t width_;
  std::vector<RegionDim> dims_;
  std::vector<std::int64_t> reach_;  ///< elements of storage that dims from d on span
  std::span<std::byte> out_;
  std::vector<std::byte> slab_;
};

/// Joins dims that continue each other on both sides, so that a contiguous region has one.
std::vector<RegionDim> joined(std::vector<RegionDim> dims) {
  std::vector<RegionDim> out;
  for (const RegionDim& dim : dims) {
    if (dim.size == 1) continue;
    if (!out.empty() && out.back().from == dim.from * dim.size &&
        out.back().to == dim.to * dim.size) {
      out.back() = {out.back().size * dim.size, dim.from, dim.to};
    } else {
      out.push_back(dim);
    }
  }
  return out;
}

void copy_packed(const Region& region, std::vector<RegionDim> dims, std::span<std::byte> out) {
  const DType dtype = region.piece.dtype;
  const auto count = static_cast<std::int64_t>(out.size()) * 8 / bits(dtype);
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(count));
  unpack(dtype, out.data(), count, codes.data());
  Walk(region.piece, std::move(dims), std::as_writable_bytes(std::span(codes)))
      .descend(0, region.start, region.to);
  pack(dtype, codes.data(), count, out.data());
}

}  // namespace

void copy_region(const Region& region, std::span<std::byte> out) {
  const Piece& piece = region.piece;
  if (piece.source == nullptr) throw Error("piece has no bytes");
  std::vector<RegionDim> dims = joined(region.dims);
  const bool packed = bits(piece.dtype) < 8;
  if (packed && piece.flag != ValueFlag::none) {
    throw Error("numbers of a packed dtype are flagged as negated or conjugated", piece.where());
  }
  const bool contiguous =
      dims.empty() || (dims.size() == 1 && dims[0].from == 1 && dims[0].to == 1);
  const std::int64_t count = dims.empty() ? 1 : dims[0].size;
  if (contiguous && !packed) {
    const auto width = static_cast<std::size_t>(bits(piece.dtype)) / 8;
    fetch(piece, region.start, count,
          out.subspan(static_cast<std::size_t>(region.to) * width,
                      static_cast<std::size_t>(count) * width));
    return;
  }
  if (contiguous && region.start % 8 == 0 && region.to == 0 &&
      byte_size(piece.dtype, count) == out.size()) {
    const auto from = checked_mul(checked_cast<std::uint64_t>(region.start) / 8,
                                  static_cast<std::uint64_t>(bits(piece.dtype)));
    piece.source->read(checked_add(piece.offset, from), out);
    return;
  }
  std::ranges::stable_sort(dims, [](const RegionDim& a, const RegionDim& b) {
    return std::abs(a.from) > std::abs(b.from);
  });
  if (packed) return copy_packed(region, std::move(dims), out);
  Walk(piece, std::move(dims), out).descend(0, region.start, region.to);
}

}  // namespace ttcheck
