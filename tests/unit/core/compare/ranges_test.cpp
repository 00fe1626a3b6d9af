// SPDX-License-Identifier: Apache-2.0
#include "core/compare/ranges.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/model/decode.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("a range is 1 MiB of the wider dtype in whole blocks") {
  struct Row {
    DType a, b;
    std::int64_t elements;
  };
  for (const Row& row : std::vector<Row>{{DType::f32, DType::f32, 1 << 18},
                                         {DType::bf16, DType::bf16, 1 << 19},
                                         {DType::bf16, DType::f32, 1 << 18},
                                         {DType::f32, DType::bf16, 1 << 18},
                                         {DType::f64, DType::u8, 1 << 17},
                                         {DType::c128, DType::c64, 1 << 16},
                                         {DType::u8, DType::boolean, 1 << 20},
                                         {DType::f4_e2m1, DType::f4_e2m1, 1 << 21},
                                         {DType::f4_e2m1, DType::f32, 1 << 18},
                                         // 2^23 bits over 6 are 682.66 blocks
                                         {DType::f6_e2m3, DType::f4_e2m1, 682 * 2048}}) {
    INFO(name(row.a) << " and " << name(row.b));
    CHECK(range_elements(row.a, row.b) == row.elements);
    CHECK(byte_size(row.a, row.elements) <= kRangeBytes);
    CHECK(byte_size(row.b, row.elements) <= kRangeBytes);
  }
}

std::uintptr_t address(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

TEST_CASE("three whole slices do not touch each other, wherever their sources begin") {
  Buffers& buffers = Buffers::mine();
  for (const std::uint64_t from : {0U, 15U, 16U, 63U, 64U, 4095U}) {
    std::vector<std::span<std::byte>> slices;
    for (const std::size_t which : {0U, 1U, 2U}) {
      slices.push_back(buffers.slice(which, from, kRangeBytes));
      REQUIRE(slices.back().size() == kRangeBytes);
      std::memset(slices.back().data(), static_cast<int>(which) + 1, kRangeBytes);
      // On the same bytes of a cache line as its source, as far as elements stay aligned.
      CHECK(address(slices.back()) % 64 == from % 64 - from % 16);
    }
    for (const std::size_t which : {0U, 1U, 2U}) {
      const std::byte mark{static_cast<std::uint8_t>(which + 1)};
      CHECK(std::ranges::all_of(slices[which], [&](std::byte byte) { return byte == mark; }));
    }
    // Apart from page alignment by some KiB.
    for (const std::size_t which : {1U, 2U}) {
      const std::uintptr_t apart = (address(slices[which]) - address(slices[which - 1])) % 4096;
      CHECK(apart >= 1024);
      CHECK(apart <= 3072);
    }
  }
}

TEST_CASE("a thread keeps its buffers, and another one has its own") {
  Buffers* const mine = &Buffers::mine();
  CHECK(&Buffers::mine() == mine);
  CHECK(&mine->scratch() == &mine->scratch());
  const Buffers* other = nullptr;
  const std::byte* slice = nullptr;
  std::thread([&] {
    other = &Buffers::mine();
    slice = Buffers::mine().slice(0, 0, 1).data();
  }).join();
  CHECK(other != nullptr);
  CHECK(other != mine);
  CHECK(slice != mine->slice(0, 0, 1).data());
}

TEST_CASE("room for elements of a tensor, on the cache lines of its first piece") {
  const ArraySource source{{}};
  Tensor tensor = tensor_of(source, DType::f32, {1000});
  tensor.pieces[0].offset = 40;
  Buffers& buffers = Buffers::mine();
  struct Row {
    std::int64_t begin, count;
    std::size_t lead;
  };
  // The byte in the source, in its cache line, to 16: 40 + 4 begin.
  for (const Row& row : std::vector<Row>{{0, 10, 32}, {2, 1, 48}, {6, 5, 0}, {10, 0, 16}}) {
    INFO(row.begin);
    const auto a = buffers.a(tensor, row.begin, row.count);
    const auto b = buffers.b(tensor, row.begin, row.count);
    const auto replica = buffers.replica(tensor, row.begin, row.count);
    std::size_t which = 0;
    for (const auto& room : {a, b, replica}) {
      CHECK(room.size() == static_cast<std::size_t>(row.count) * 4);
      CHECK(room.data() == buffers.slice(which++, 0, 0).data() + row.lead);
    }
  }
  tensor.pieces.clear();
  CHECK(buffers.a(tensor, 5, 1).data() == buffers.slice(0, 0, 0).data());
  tensor = tensor_of(source, DType::f4_e2m1, {1000});
  CHECK(buffers.b(tensor, 64, 9).data() == buffers.slice(1, 32, 0).data());
  CHECK(buffers.b(tensor, 64, 9).size() == 5);
}

TEST_CASE("the rule of a pair has its dtypes and its tolerance") {
  Tensor reference;
  reference.dtype = DType::bf16;
  Tensor candidate;
  candidate.dtype = DType::f32;
  Pair pair{&reference, &candidate};
  Rule rule = rule_of(pair, false);
  CHECK(rule.a == DType::bf16);
  CHECK(rule.b == DType::f32);
  CHECK_FALSE(rule.wide);
  CHECK_FALSE(rule.rtol);
  CHECK_FALSE(rule.atol);
  CHECK(rule.close_rtol == 1.6e-2);
  CHECK(rule.close_atol == 1e-5);
  CHECK(rule_of(pair, true).wide);
  const Tolerance tolerance{0.25, 3};
  pair.tolerance = &tolerance;
  rule = rule_of(pair, false);
  CHECK(rule.rtol == 0.25);
  CHECK(rule.atol == 3.0);
  CHECK(rule.close_rtol == 1.6e-2);
}

TEST_CASE("values are fetched as the side's map makes them") {
  const auto source = ArraySource::of(std::vector<float>{1, 2, 3, 4});
  const Tensor tensor = tensor_of(source, DType::f32, {4});
  std::vector<float> out(2);
  fetch(tensor, nullptr, 1, 2, std::as_writable_bytes(std::span(out)));
  CHECK(out == std::vector<float>{2, 3});
  const ValueMap map{2, 1, 0.5};
  fetch(tensor, &map, 2, 2, std::as_writable_bytes(std::span(out)));
  CHECK(out == std::vector<float>{6.5, 8.5});
}

TEST_CASE("the holes of both sides, within the range") {
  using Holes = std::vector<LinearRange>;
  Tensor reference;
  reference.shape = {4, 5};
  Tensor candidate = reference;
  const Pair pair{&reference, &candidate};
  CHECK(holes_of(pair, 0, 20).empty());
  reference.holes = {{{1, 0}, {1, 5}}};
  CHECK(holes_of(pair, 0, 20) == Holes{{5, 10}});
  CHECK(holes_of(pair, 7, 20) == Holes{{7, 10}});
  CHECK(holes_of(pair, 10, 20).empty());
  candidate.holes = {{{1, 3}, {2, 1}}, {{3, 4}, {1, 1}}};
  CHECK(holes_of(pair, 0, 20) == Holes{{5, 10}, {13, 14}, {19, 20}});
  reference.holes.clear();
  CHECK(holes_of(pair, 0, 20) == Holes{{8, 9}, {13, 14}, {19, 20}});
  CHECK(holes_of(pair, 0, 14) == Holes{{8, 9}, {13, 14}});
}

}  // namespace
}  // namespace ttcheck::compare
