// SPDX-License-Identifier: Apache-2.0
#include "core/compare/window.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <random>

#include "core/compare/compare.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

constexpr std::int64_t kCount = 704;  // whole vectors, which kernels read where they stand

/// Counts its reads.
class CountingSource : public ArraySource {
 public:
  using ArraySource::ArraySource;
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads;
    ArraySource::read(offset, out);
  }
  mutable std::atomic<int> reads = 0;
};

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// `n` tensors of bf16 from `first` on, each `step` bytes after the one before.
std::vector<Tensor> row_of(const Source& source, std::size_t n, std::uint64_t first,
                           std::uint64_t step) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < n; ++i) {
    Tensor& tensor = tensors.emplace_back(tensor_of(source, DType::bf16, {kCount}));
    tensor.pieces[0].offset = first + i * step;
    tensor.order = static_cast<std::int64_t>(i);
  }
  return tensors;
}

std::vector<Compared> compare_rows(std::span<const Tensor> a, std::span<const Tensor> b) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < a.size(); ++i) pairs.push_back({&a[i], &b[i], {}, {}});
  return compare(pairs, {});
}

/// Each pair in a call of its own, so that nothing is read together.
void check_alone(std::span<const Tensor> a, std::span<const Tensor> b,
                 std::span<const Compared> together) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Compared alone = std::move(compare_rows(a.subspan(i, 1), b.subspan(i, 1))[0]);
    CHECK(together[i].metrics == alone.metrics);
    CHECK((together[i].error == nullptr) == (alone.error == nullptr));
  }
}

TEST_CASE("tensors side by side are read at once, wherever they begin, with the same metrics") {
  for (const std::uint64_t first : {0U, 1U, 8U, 63U, 4095U}) {
    const CountingSource source_a(random_bytes(8192 + 20 * 2 * kCount, 1));
    const CountingSource source_b(random_bytes(8192 + 20 * 2 * kCount, 2));
    const auto a = row_of(source_a, 20, first, 2 * kCount);
    const auto b = row_of(source_b, 20, first + 3, 2 * kCount + 1);
    const std::vector<Compared> together = compare_rows(a, b);
    CHECK(source_a.reads == 1);
    CHECK(source_b.reads == 1);
    check_alone(a, b, together);
    CHECK(together[7].metrics.count == kCount);
    CHECK(together[7].metrics.unequal_bits > 0);
  }
}

TEST_CASE("two are read together, one is read alone") {
  for (const std::size_t count : {1U, 2U}) {
    const CountingSource source(random_bytes(2 * 2 * kCount, 10));
    const auto row = row_of(source, count, 0, 2 * kCount);
    const std::vector<Compared> found = compare_rows(row, row);
    CHECK(source.reads == 2);  // one a side
    for (const Compared& one : found) CHECK(one.metrics.count == kCount);
  }
}

TEST_CASE("numbers of 16 and 32 bits may begin at odd bytes, on every path of the kernels") {
  const std::array dtypes = {DType::f32, DType::bf16, DType::f16, DType::i16, DType::f64};
  const CountingSource source_a(random_bytes(8 * 8 * kCount, 7));
  const CountingSource source_b(random_bytes(8 * 8 * kCount, 8));
  for (const DType left : dtypes) {
    for (const DType right : dtypes) {
      const auto put = [](const Source& source, DType dtype) {
        std::vector<Tensor> tensors = row_of(source, 4, 1, byte_size(dtype, kCount) + 2);
        for (Tensor& tensor : tensors) tensor.dtype = tensor.pieces[0].dtype = dtype;
        return tensors;
      };
      const auto a = put(source_a, left);
      const auto b = put(source_b, right);
      check_alone(a, b, compare_rows(a, b));
    }
  }
}

TEST_CASE("where one side cannot be read together, neither is") {
  const CountingSource near(random_bytes(8 * 2 * kCount, 9));
  const CountingSource far(random_bytes(1 << 20, 9));
  const auto a = row_of(near, 8, 0, 2 * kCount);
  const auto b = row_of(far, 8, 0, 100'000);
  check_alone(a, b, compare_rows(a, b));
  CHECK(near.reads == 16);
}

TEST_CASE("tensors that share bytes, or are empty, are read together, too") {
  const CountingSource source(random_bytes(8 * kCount, 3));
  std::vector<Tensor> a = row_of(source, 6, 0, 100);
  a[2].shape = {0, 3};
  a[4].dtype = a[4].pieces[0].dtype = DType::f4_e2m1;
  const std::vector<Compared> together = compare_rows(a, a);
  CHECK(source.reads == 2);
  check_alone(a, a, together);
  CHECK(together[2].metrics.count == 0);
  CHECK(together[5].metrics.unequal_bits == 0);
}

TEST_CASE("tensors far apart are read one by one") {
  const CountingSource source(random_bytes(1 << 20, 4));
  const auto a = row_of(source, 10, 0, 100'000);
  check_alone(a, a, compare_rows(a, a));
  CHECK(source.reads == 40);
}

TEST_CASE("a read that fails is laid to the tensor whose bytes it wanted") {
  ArraySource source(random_bytes(20 * 2 * kCount, 5));
  const ArraySource whole(random_bytes(20 * 2 * kCount, 5));
  source.broken_from = 4 * 2 * kCount + 10;
  source.broken_to = source.broken_from + 1;
  const auto a = row_of(whole, 20, 0, 2 * kCount);
  const auto b = row_of(source, 20, 0, 2 * kCount);
  const std::vector<Compared> together = compare_rows(a, b);
  for (std::size_t i = 0; i < together.size(); ++i) {
    CHECK((together[i].error != nullptr) == (i == 4));
    CHECK(together[i].metrics.count == (i == 4 ? 0 : kCount));
  }
}

TEST_CASE("pieces that are not as they are compared are not read together") {
  const ArraySource source(random_bytes(20 * 2 * kCount, 6));
  for (int what = 0; what < 6; ++what) {
    ArraySource other(random_bytes(20 * 2 * kCount, 6));
    std::vector<Tensor> tensors = row_of(source, 3, 0, 2 * kCount);
    Piece& piece = tensors[1].pieces[0];
    if (what == 0) piece.order = ByteOrder::big;
    if (what == 1) piece.flag = ValueFlag::negate;
    if (what == 2) piece.source = &other;
    if (what == 3) piece.cells = {{{{0}, {kCount}}, kCount - 1, {-1}}};
    if (what == 4) tensors[1].holes = {{{0}, {10}}};
    if (what == 5) {
      other.in_order = true;
      piece.source = &other;
    }
    const std::vector<const Tensor*> list = {&tensors[0], &tensors[1], &tensors[2]};
    CHECK_FALSE(Window::over(list));
    check_alone(tensors, tensors, compare_rows(tensors, tensors));
  }
  CHECK_FALSE(Window::over({}));
  const std::vector<Tensor> plain = row_of(source, 2, 0, 2 * kCount);
  for (int what = 0; what < 6; ++what) {
    INFO(what);
    std::vector<Tensor> tensors = plain;
    if (what == 1) tensors[1].pieces.push_back(tensors[1].pieces[0]);
    if (what == 2) tensors[1].pieces.clear();
    if (what == 3) tensors[1].pieces[0].source = nullptr;
    if (what == 4) tensors[1].pieces[0].dtype = DType::f16;
    if (what == 5) tensors[1].reduce = Reduce::sum;
    const std::vector<const Tensor*> list = {&tensors[0], &tensors[1]};
    CHECK(Window::over(list).has_value() == (what == 0));
  }
}

TEST_CASE("as much may lie between tensors as they take, and a range in all") {
  const auto fits = [](std::uint64_t size, std::uint64_t step, std::uint64_t all) {
    const ArraySource source(std::vector<std::byte>(static_cast<std::size_t>(all)));
    std::vector<Tensor> tensors = row_of(source, 2, 0, step);
    for (Tensor& tensor : tensors) tensor.shape = {static_cast<std::int64_t>(size / 2)};
    const std::vector<const Tensor*> there = {&tensors[0], &tensors[1]};
    const std::vector<const Tensor*> back = {&tensors[1], &tensors[0]};
    CHECK(Window::over(there).has_value() == Window::over(back).has_value());
    return Window::over(there).has_value();
  };
  CHECK(fits(100, 300, 400));
  CHECK_FALSE(fits(100, 301, 401));
  CHECK_FALSE(fits(100, 300, 399));  // beyond the end of the source
  CHECK(fits(kRangeBytes / 2, kRangeBytes / 2, kRangeBytes));
  CHECK_FALSE(fits(kRangeBytes / 2, kRangeBytes / 2 + 1, kRangeBytes + 1));
}

}  // namespace
}  // namespace ttcheck::compare
