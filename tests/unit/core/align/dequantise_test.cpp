#include "core/align/dequantise.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

Tensor named(const std::string& name, const Source& source, DType dtype, Shape shape) {
  return tests::named(name, tests::tensor_of(source, dtype, std::move(shape)));
}

const tests::ArraySource& nothing() {
  static const tests::ArraySource source(std::vector<std::byte>(1 << 10));
  return source;
}

Tensor weight(DType dtype) { return named("a.weight", nothing(), dtype, {3, 4}); }
Tensor scale(const std::string& name) { return named(name, nothing(), DType::f32, {3, 1}); }

/// Whether the candidate's weight is seen as fp32.
bool seen(std::vector<Tensor> reference, std::vector<Tensor> candidate,
          const std::vector<MapRule>& maps = {}) {
  const Dequantised made = dequantise(reference, candidate, maps);
  return candidate.front().dtype == DType::f32;
}

}  // namespace

TEST_CASE("dequantise: scales of blocks") {
  CHECK(blocks_of({144, 136}, {2, 2}) == Extents{128, 128});
  CHECK(blocks_of({80, 96}, {3, 3}) == Extents{32, 32});
  CHECK(blocks_of({300, 7}, {3, 1}) == Extents{128, 7});
  CHECK(blocks_of({129, 7}, {2, 1}) == Extents{128, 7});  // one row in the second
  CHECK(blocks_of({128, 7}, {2, 1}) == Extents{64, 7});
  CHECK(blocks_of({12, 8}, {12, 1}) == Extents{1, 8});
  CHECK(blocks_of({12, 8}, {12}) == Extents{1, 8});
  CHECK(blocks_of({12, 8}, {}) == Extents{12, 8});
  CHECK(blocks_of({12, 8}, {1}) == Extents{12, 8});
  CHECK(blocks_of({3, 12, 8}, {3, 1, 1}) == Extents{1, 12, 8});
  CHECK(blocks_of({30, 8}, {10, 8}) == Extents{3, 1});
  CHECK_FALSE(blocks_of({12, 8}, {8}));
  CHECK_FALSE(blocks_of({12, 8}, {13, 1}));
  CHECK_FALSE(blocks_of({31, 8}, {10, 8}));
  CHECK_FALSE(blocks_of({12, 8}, {0, 1}));
  CHECK_FALSE(blocks_of({12}, {12, 1, 2}));
}

TEST_CASE("dequantise: what proves it") {
  const Tensor whole = weight(DType::bf16);
  const Tensor stored = weight(DType::f8_e4m3fn);
  CHECK(seen({whole}, {stored, scale("a.weight_scale_inv")}));
  CHECK(seen({whole}, {stored, scale("a.weight_scale")}));
  CHECK(seen({whole}, {weight(DType::i8), scale("a.SCB")}));
  CHECK_FALSE(seen({whole}, {stored}));
  CHECK_FALSE(seen({whole}, {stored, scale("b.weight_scale")}));
  CHECK_FALSE(seen({whole}, {weight(DType::u8), scale("a.weight_scale")}));
  CHECK_FALSE(
      seen({whole}, {weight(DType::i8), scale("a.weight_scale"), scale("a.weight_zero_point")}));
  // The other side is stored in the same way: what is stored is compared.
  CHECK_FALSE(seen({stored, scale("a.weight_scale")}, {stored, scale("a.weight_scale")}));
  CHECK_FALSE(seen({stored}, {stored, scale("a.weight_scale")}));
  CHECK(seen({weight(DType::i8), scale("a.SCB")}, {stored, scale("a.weight_scale")}));
}

TEST_CASE("dequantise: signed integers and floats of 8 bits that have a sign") {
  for (const DTypeInfo& row : kDTypes) {
    if (row.dtype == DType::f32) continue;  // it is what they are seen as
    const bool signed_byte = row.kind == DTypeClass::signed_integer ||
                             (row.kind == DTypeClass::floating && row.dtype != DType::f8_e8m0);
    INFO(std::string(row.name));
    CHECK(seen({weight(DType::f64)}, {weight(row.dtype), scale("a.weight_scale")}) ==
          (row.bits == 8 && signed_byte));
  }
}

TEST_CASE("dequantise: each weight by itself") {
  const auto stored = [](const std::string& name, DType dtype, Shape shape) {
    return named(name, nothing(), dtype, std::move(shape));
  };
  std::vector<Tensor> reference, candidate;
  for (const char* name : {"a.weight", "b.weight", "c.weight", "d.bias", "e.weight"}) {
    reference.push_back(stored(name, DType::bf16, {3, 4}));
  }
  candidate = {stored("a.weight", DType::i8, {3, 4}), stored("b.weight", DType::u8, {3, 4}),
               stored("c.weight", DType::i8, {3, 4}), stored("d.bias@exp_avg", DType::i8, {3, 4}),
               stored("e.weight", DType::i8, {0, 4}), stored("f.weight", DType::i8, {})};
  for (const char* name : {"g.weight", "h.weight", "i.weight", "j.weight"}) {
    candidate.push_back(stored(name, DType::i8, {3, 4}));
  }
  candidate[2].holes = {{{0, 0}, {1, 4}}};
  candidate[6].stored = false;
  candidate[7].reduce = Reduce::sum;
  candidate[8].undeclared = true;
  candidate[9].pieces.clear();
  for (const char* name : {"a.weight", "b.weight", "c.weight", "d.bias@exp_avg", "g.weight",
                           "h.weight", "i.weight", "j.weight"}) {
    candidate.push_back(scale(std::string(name) + "_scale"));
  }
  candidate.push_back(stored("e.weight_scale", DType::f32, {1}));
  candidate.push_back(stored("f.weight_scale", DType::f32, {}));
  const Dequantised made = dequantise(reference, candidate, {});
  CHECK(made.rules == std::map<std::string, std::string>{{"a.weight", "dequant(channel)"}});
  CHECK(made.used.at("a.weight_scale") == "dequant(channel)");
  CHECK(candidate[0].dtype == DType::f32);
  CHECK(candidate[1].dtype == DType::u8);
}

TEST_CASE("dequantise: a scale that cannot be read rounds nothing") {
  tests::ArraySource broken(std::vector<std::byte>(64, std::byte{0x3f}));
  for (const bool is_broken : {false, true}) {
    if (is_broken) broken.broken_from = 0;
    if (is_broken) broken.broken_to = 64;
    std::vector<Tensor> reference = {weight(DType::f32)};
    std::vector<Tensor> candidate = {weight(DType::i8),
                                     named("a.weight_scale", broken, DType::f32, {3, 1})};
    const Dequantised made = dequantise(reference, candidate, {});
    REQUIRE(candidate[0].rounding);
    CHECK((candidate[0].rounding->atol == 0) == is_broken);
  }
}

TEST_CASE("dequantise: as a map says") {
  const std::vector<Tensor> reference = {named("w", nothing(), DType::f32, {3, 4})};
  const std::vector<Tensor> candidate = {weight(DType::i8), scale("a.step")};
  CHECK_FALSE(seen(reference, candidate));
  CHECK(seen(reference, candidate, {{"w", "a.{weight,step}", "dequant(channel)"}}));
  CHECK_FALSE(seen(reference, candidate, {{"w", "a.{weight,step}", "dequant(block)"}}));
  CHECK_FALSE(seen(reference, candidate, {{"w", "a.weight", "dequant(channel)"}}));
  CHECK_THROWS_AS(seen(reference, candidate, {{"w", "a.{weight,step,c}", "dequant(channel)"}}),
                  Error);
}

TEST_CASE("dequantise: values, blocks that are cut short, reads from anywhere") {
  // Two matrices of 3 x 5 in blocks of 2 x 4: number i of the stack times 1 + the block's number.
  std::vector<std::int8_t> numbers;
  std::vector<float> scales, expected;
  for (int i = 0; i < 30; ++i) {
    numbers.push_back(static_cast<std::int8_t>(i - 15));
    const int block = i / 15 * 4 + i % 15 / 5 / 2 * 2 + i % 5 / 4;
    expected.push_back(static_cast<float>((i - 15) * (1 + block)));
  }
  for (int i = 0; i < 8; ++i) scales.push_back(static_cast<float>(1 + i));
  const auto stored = tests::ArraySource::of(numbers);
  const auto steps = tests::ArraySource::of(scales);
  const ScaledSource source({tests::tensor_of(stored, DType::i8, {2, 3, 5}),
                             tests::tensor_of(steps, DType::f32, {2, 2, 2}),
                             {1, 2, 4},
                             1});
  REQUIRE(source.size() == 120);
  const auto all = std::as_bytes(std::span(expected));
  for (std::size_t begin = 0; begin < all.size(); ++begin) {
    for (std::size_t end = begin; end <= all.size(); ++end) {
      std::vector<std::byte> read(end - begin);
      source.read(begin, read);
      REQUIRE(
          std::equal(read.begin(), read.end(), all.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
  std::vector<std::byte> read(2);
  CHECK_THROWS_AS(source.read(119, read), Error);
  CHECK(source.where(8).offset == 2);
  CHECK(largest_magnitude(tests::tensor_of(steps, DType::f32, {8})) == 8);
}

}  // namespace ttcheck::align
