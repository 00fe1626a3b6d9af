// SPDX-License-Identifier: Apache-2.0
// Elements that must be equal and are not: how much is read to find out that nothing explains them.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/explain/explain.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kRows = 512, kColumns = 1024, kCount = kRows * kColumns;

class CountedSource final : public tests::ArraySource {
 public:
  explicit CountedSource(const std::vector<std::uint8_t>& values)
      : ArraySource(ArraySource::of(values)) {}
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes += out.size();
    ArraySource::read(offset, out);
  }
  mutable std::atomic<std::uint64_t> bytes = 0;
};

struct Found {
  std::vector<Explanation> explanations;
  std::uint64_t bytes;  ///< of the candidate, read for them
};

/// u8 of which the last bit is turned where `turned` says so.
template <class Turned>
Found found_of(Turned turned) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> a(kCount);
  for (auto& value : a) value = static_cast<std::uint8_t>(random());
  auto b = a;
  for (std::int64_t i = 0; i < kCount; ++i) {
    if (turned(i / kColumns, i % kColumns)) b[static_cast<std::size_t>(i)] ^= 1;
  }
  const CountedSource source_a(a), source_b(b);
  const Tensor reference = tests::tensor_of(source_a, DType::u8, {kRows, kColumns});
  const Tensor candidate = tests::tensor_of(source_b, DType::u8, {kRows, kColumns});
  Subject subject;
  subject.pair = {&reference, &candidate};
  TensorResult result;
  result.dtype = result.candidate_dtype = DType::u8;
  result.metrics = compare::compare({&subject.pair, 1}, {})[0].metrics;
  const Mesh mesh;
  const Numbers numbers;
  subject.result = &result;
  subject.mesh = &mesh;
  subject.numbers = &numbers;
  source_b.bytes = 0;
  return {explanations(subject, Effort::all), source_b.bytes};
}

TEST_CASE("a sample tells that nothing explains what differs here and there") {
  std::mt19937 random(2);
  const auto [explanations, bytes] = found_of([&](auto, auto) { return random() % 2 == 0; });
  CHECK(explanations.empty());
  CHECK(bytes < kCount / 2);
}

TEST_CASE(
    "places that a sample sees in other shares than there are, or sees as places, are named") {
  const auto is_localised = [](const Found& found) {
    return !found.explanations.empty() && found.explanations.front().code == Code::localised;
  };
  CHECK(is_localised(found_of([](auto, auto column) { return column < kColumns / 2; })));
  CHECK(is_localised(found_of([](auto, auto column) { return column / 256 % 2 == 0; })));
  CHECK(is_localised(found_of([](auto row, auto) { return row % 16 == 0; })));
  CHECK(is_localised(found_of([](auto row, auto) { return row < kRows * 3 / 4; })));
}

}  // namespace
}  // namespace ttcheck::explain
