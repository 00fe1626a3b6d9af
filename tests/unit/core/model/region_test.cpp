// SPDX-License-Identifier: Apache-2.0
#include "core/model/region.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "core/model/decode.hpp"
#include "core/model/value_flag.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::ArraySource;
using tests::error_of;

/// Writes down each read that is made of it.
class WatchedSource final : public Source {
 public:
  explicit WatchedSource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    REQUIRE(within(offset, out.size(), bytes_.size()));
    reads.emplace_back(offset, out.size());
    last = out.data();
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  Where where(std::uint64_t offset) const override { return {"watched", offset, ""}; }

  mutable std::vector<std::pair<std::uint64_t, std::size_t>> reads;
  mutable const std::byte* last = nullptr;

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> any_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Codes of whole bytes, or packed ones, one after the other.
std::vector<std::uint8_t> split(DType dtype, const std::vector<std::byte>& bytes) {
  if (bits(dtype) >= 8) {
    std::vector<std::uint8_t> out(bytes.size());
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  const auto count = static_cast<std::int64_t>(bytes.size()) * 8 / bits(dtype);
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(count));
  unpack(dtype, bytes.data(), count, codes.data());
  return codes;
}

/// What `out` should hold after the copy, element by element from the definition of a Region.
std::vector<std::uint8_t> by_definition(const Region& region, const std::vector<std::byte>& storage,
                                        const std::vector<std::byte>& out) {
  const DType dtype = region.piece.dtype;
  const std::size_t width = bits(dtype) < 8 ? 1 : static_cast<std::size_t>(bits(dtype)) / 8;
  const std::vector<std::uint8_t> from = split(dtype, storage);
  std::vector<std::uint8_t> to = split(dtype, out);
  std::vector<std::int64_t> at(region.dims.size(), 0);
  while (true) {
    std::int64_t source = region.start;
    std::int64_t place = region.to;
    for (std::size_t d = 0; d < at.size(); ++d) {
      source += at[d] * region.dims[d].from;
      place += at[d] * region.dims[d].to;
    }
    for (std::size_t i = 0; i < width; ++i) {
      to[static_cast<std::size_t>(place) * width + i] =
          from[region.piece.offset + static_cast<std::size_t>(source) * width + i];
    }
    std::size_t d = at.size();
    while (d > 0 && ++at[d - 1] == region.dims[d - 1].size) at[--d] = 0;
    if (d == 0) return to;
  }
}

struct Row {
  std::int64_t start, to;
  std::vector<RegionDim> dims;  ///< size, stride in the storage, stride in the buffer
};

TEST_CASE("each element goes to its place, whatever its width") {
  const std::vector<Row> rows = {{3, 5, {}},
                                 {8, 0, {{1, 9, 1}}},
                                 {0, 0, {{16, 1, 1}}},
                                 {8, 0, {{40, 1, 1}}},
                                 {5, 3, {{20, 1, 1}}},
                                 {0, 0, {{40, 2, 1}}},
                                 {39, 0, {{40, -1, 1}}},
                                 {7, 2, {{6, 0, 3}}},
                                 {0, 0, {{4, 8, 8}, {8, 1, 1}}},   // whole
                                 {0, 0, {{4, 10, 8}, {8, 1, 1}}},  // rows of a wider array
                                 {0, 0, {{4, 8, 10}, {8, 1, 1}}},  // into a wider array
                                 {0, 0, {{5, 1, 8}, {8, 5, 1}}},   // transposed
                                 {1, 1, {{3, 2, 1}, {4, 6, 3}}},
                                 {2, 0, {{2, 60, 30}, {5, 6, 6}, {6, 1, 1}}},
                                 {2, 0, {{2, 1, 30}, {5, 2, 6}, {6, 10, 1}}},
                                 {90, 0, {{3, -30, 30}, {5, -6, 6}, {6, -1, 1}}},
                                 {40, 0, {{3, 30, 30}, {5, -6, 6}, {6, 0, 1}}},
                                 {0, 0, {{3, 0, 4}, {1, 7, 4}, {4, 1, 1}}},
                                 {10, 7, {{2, 3, 40}, {2, 50, 20}, {2, 1, 10}, {3, 9, 2}}}};
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::i64, DType::c128,
                            DType::f4_e2m1, DType::f6_e3m2}) {
    const auto storage = any_bytes(byte_size(dtype, 128), 1);
    const ArraySource source{storage};
    Piece piece;
    piece.source = &source;
    piece.dtype = dtype;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      INFO(name(dtype) << ", row " << i);
      const Region region{piece, rows[i].start, rows[i].to, rows[i].dims};
      const auto before = any_bytes(byte_size(dtype, 128), 2);
      auto out = before;
      copy_region(region, out);
      CHECK(split(dtype, out) == by_definition(region, storage, before));
    }
  }
}

TEST_CASE("packed numbers of a whole buffer, at any place") {
  for (const DType dtype : {DType::f4_e2m1, DType::f6_e2m3}) {
    const auto storage = any_bytes(byte_size(dtype, 64), 3);
    const WatchedSource source{storage};
    Piece piece;
    piece.source = &source;
    piece.dtype = dtype;
    for (const std::int64_t start : {0, 8, 3}) {
      for (const std::int64_t count : {32, 24}) {
        INFO(name(dtype) << " from " << start << ", " << count);
        const Region region{piece, start, 0, {{count, 1, 1}}};
        const auto before = any_bytes(byte_size(dtype, 32), 4);
        auto out = before;
        copy_region(region, out);
        CHECK(split(dtype, out) == by_definition(region, storage, before));
        if (start != 3 && count == 32) {  // bytes go straight to their place
          CHECK(source.reads.back() ==
                std::pair{byte_size(dtype, start), static_cast<std::size_t>(out.size())});
          CHECK(source.last == out.data());
        }
      }
    }
  }
}

TEST_CASE("offsets count bytes") {
  const auto storage = any_bytes(64, 5);
  const ArraySource source{storage};
  for (const DType dtype : {DType::u8, DType::f32, DType::f4_e2m1}) {
    Piece piece;
    piece.source = &source;
    piece.dtype = dtype;
    piece.offset = 3;
    std::vector<std::byte> out(byte_size(dtype, 8));
    copy_region({piece, 0, 0, {{8, 1, 1}}}, out);
    CHECK(std::equal(out.begin(), out.end(), storage.begin() + 3));
    copy_region({piece, 0, 0, {{4, 1, 2}, {2, 4, 1}}}, out);
    const auto codes = split(dtype, {storage.begin() + 3, storage.end()});
    const std::size_t width = bits(dtype) < 8 ? 1 : static_cast<std::size_t>(bits(dtype)) / 8;
    const auto found = split(dtype, out);
    CHECK(std::equal(found.begin() + static_cast<std::ptrdiff_t>(width),
                     found.begin() + static_cast<std::ptrdiff_t>(2 * width),
                     codes.begin() + static_cast<std::ptrdiff_t>(4 * width)));
  }
}

TEST_CASE("neighbours are fetched together while that is cheaper than another read") {
  struct Watched {
    const char* what;
    DType dtype;
    Row row;
    std::size_t reads, bytes;  ///< of the largest read
  };
  constexpr std::int64_t kSlab = 256 << 10;
  const WatchedSource source{std::vector<std::byte>(4 << 20)};
  std::vector<std::byte> out(2 << 20);
  for (const Watched& one : std::vector<Watched>{
           {"one element", DType::f32, {7, 0, {}}, 1, 4},
           {"a contiguous MiB", DType::f32, {0, 0, {{kSlab, 1, 1}}}, 1, 1 << 20},
           {"rows that continue each other",
            DType::f32,
            {0, 0, {{512, 512, 512}, {512, 1, 1}}},
            1,
            1 << 20},
           {"every second", DType::u8, {0, 0, {{kSlab / 2, 2, 1}}}, 1, kSlab - 1},
           {"one more than a slab holds", DType::u8, {0, 0, {{kSlab / 2 + 1, 2, 1}}}, 2, kSlab - 1},
           {"4 KiB between", DType::f32, {0, 0, {{10, 1025, 1}}}, 1, 4 * (9 * 1025 + 1)},
           {"a little more", DType::f32, {0, 0, {{10, 1026, 1}}}, 10, 4},
           {"backwards, 4 KiB between",
            DType::f32,
            {9 * 1025, 0, {{10, -1025, 1}}},
            1,
            4 * (9 * 1025 + 1)},
           {"rows 4 KiB apart",
            DType::u8,
            {0, 0, {{8, 4196, 100}, {100, 1, 1}}},
            1,
            7 * 4196 + 100},
           {"rows further apart", DType::u8, {0, 0, {{8, 4197, 100}, {100, 1, 1}}}, 8, 100},
           {"rows of a slab", DType::u8, {0, 0, {{3, kSlab + 1, kSlab}, {kSlab, 1, 1}}}, 3, kSlab},
           {"rows that are longer",
            DType::u8,
            {0, 0, {{2, kSlab + 9, kSlab + 8}, {kSlab + 8, 1, 1}}},
            4,
            kSlab},
           {"the same one again and again", DType::f64, {5, 0, {{1000, 0, 1}}}, 1, 8},
           {"transposed", DType::f32, {0, 0, {{512, 1, 512}, {512, 512, 1}}}, 4, kSlab}}) {
    INFO(one.what);
    Piece piece;
    piece.source = &source;
    piece.dtype = one.dtype;
    source.reads.clear();
    copy_region({piece, one.row.start, one.row.to, one.row.dims}, out);
    CHECK(source.reads.size() == one.reads);
    std::size_t largest = 0;
    for (const auto& [offset, size] : source.reads) largest = std::max(largest, size);
    CHECK(largest == one.bytes);
  }
}

TEST_CASE("a contiguous region goes straight into its buffer") {
  const WatchedSource source{any_bytes(64, 6)};
  Piece piece;
  piece.source = &source;
  piece.dtype = DType::u16;
  std::vector<std::byte> out(64);
  copy_region({piece, 4, 3, {{10, 1, 1}}}, out);
  CHECK(source.reads == std::vector<std::pair<std::uint64_t, std::size_t>>{{8, 20}});
  CHECK(source.last == out.data() + 6);
}

TEST_CASE("what cannot be read is said with its place") {
  const ArraySource source{std::vector<std::byte>(16)};
  std::vector<std::byte> out(64);
  Piece piece;
  CHECK(error_of([&] { copy_region({piece, 0, 0, {}}, out); }) == "piece has no bytes");
  piece.source = &source;
  piece.dtype = DType::f4_e2m1;
  piece.offset = 5;
  for (const ValueFlag flag : {ValueFlag::negate, ValueFlag::conjugate}) {
    piece.flag = flag;
    CHECK(error_of([&] { copy_region({piece, 0, 0, {}}, out); }) ==
          "memory:0x5: numbers of a packed dtype are flagged as negated or conjugated");
  }
  piece.flag = ValueFlag::none;
  piece.dtype = DType::f32;
  CHECK(error_of([&] { copy_region({piece, 2, 0, {{1, 1, 1}}}, out); }) ==
        "memory:0xd: range ends beyond the file");
  CHECK(error_of([&] { copy_region({piece, 0, 0, {{2, 2, 1}}}, out); }) ==
        "memory:0x5: range ends beyond the file");
  const std::int64_t half = std::int64_t{1} << 62;
  CHECK(error_of([&] { copy_region({piece, half, 0, {{1, 1, 1}}}, out); }) == "product overflows");
  CHECK(error_of([&] { copy_region({piece, -1, 0, {{1, 1, 1}}}, out); }) == "number does not fit");
  CHECK(error_of([&] { copy_region({piece, 0, 0, {{3, half, 1}}}, out); }) == "product overflows");
  CHECK(error_of([&] { copy_region({piece, 0, 0, {{3, half - 1, 4}, {2, 4, 1}}}, out); }) ==
        "sum overflows");
  piece.dtype = DType::u8;
  piece.offset = std::numeric_limits<std::uint64_t>::max();
  CHECK(error_of([&] { copy_region({piece, 1, 0, {{1, 1, 1}}}, out); }) == "sum overflows");
  piece.dtype = DType::f6_e2m3;
  CHECK(error_of([&] { copy_region({piece, 8, 0, {{64, 1, 1}}}, out); }) == "sum overflows");
}

}  // namespace
}  // namespace ttcheck
