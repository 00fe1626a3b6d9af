// SPDX-License-Identifier: Apache-2.0
#include "core/align/dequantise.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"
#include "tests/support/stored_piece.hpp"

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
  CHECK_FALSE(blocks_of({16, 8}, {8}));  // of one axis they are rows, not pairs of rows
  CHECK_FALSE(blocks_of({0, 8}, {1, 2}));
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
  CHECK_FALSE(seen({whole, scale("a.weight_scale")}, {stored, scale("a.weight_scale")}));
  CHECK(seen({named("b", nothing(), DType::bf16, {3, 4})}, {stored, scale("a.weight_scale")}));
  // bitsandbytes names it by the module, and has one a row.
  const Tensor bias = named("a.bias", nothing(), DType::i8, {3, 4});
  CHECK_FALSE(seen({}, {bias, scale("a.bias.SCB")}));
  CHECK_FALSE(seen({}, {bias, scale("")}));
  CHECK_FALSE(seen({whole}, {weight(DType::i8), named("a.SCB", nothing(), DType::f32, {1})}));
  // A stack of one number is one, too.
  CHECK(seen({}, {named("a.weight", nothing(), DType::i8, {1}),
                  named("a.weight_scale", nothing(), DType::f32, {1})}));
}

TEST_CASE("dequantise: scales are real numbers that one rank has, all of them") {
  struct Row {
    const char* what;
    std::function<void(Tensor&)> change;
    bool seen;
  };
  for (const Row& row :
       {Row{"as it is", [](Tensor&) {}, true},
        Row{"of 16 bits", [](Tensor& one) { one.dtype = DType::bf16; }, true},
        Row{"integers", [](Tensor& one) { one.dtype = DType::i32; }, false},
        Row{"complex", [](Tensor& one) { one.dtype = DType::c64; }, false},
        Row{"of another shape", [](Tensor& one) { one.shape = {2}; }, false},
        Row{"not stored", [](Tensor& one) { one.stored = false; }, false},
        Row{"with a hole", [](Tensor& one) { one.holes = {{{0, 0}, {1, 1}}}; }, false},
        Row{"with a copy", [](Tensor& one) { one.replicas = one.pieces; }, false}}) {
    INFO(std::string(row.what));
    Tensor step = scale("a.weight_scale");
    row.change(step);
    CHECK(seen({}, {weight(DType::i8), step}) == row.seen);
  }
}

/// The candidate's weight of {4, 6} and what was made with a scale of that shape.
Dequantised made_with(DType dtype, const std::string& name, const Tensor& step, Tensor& weight) {
  std::vector<Tensor> reference;
  std::vector<Tensor> candidate = {named(name, nothing(), dtype, {4, 6}), step};
  Dequantised made = dequantise(reference, candidate, {});
  weight = candidate[0];
  return made;
}

TEST_CASE("dequantise: the rule says what shares a scale") {
  struct Row {
    Shape scale;
    std::string rule;
  };
  for (const Row& row : {Row{{}, "dequant(tensor)"}, Row{{1}, "dequant(tensor)"},
                         Row{{1, 1}, "dequant(tensor)"}, Row{{4}, "dequant(channel)"},
                         Row{{4, 1}, "dequant(channel)"}, Row{{2, 2}, "dequant(block)"},
                         Row{{2, 1}, "dequant(block)"}, Row{{4, 2}, "dequant(block)"}}) {
    INFO(row.scale.size());
    Tensor weight;
    const Dequantised made =
        made_with(DType::i8, "w", named("w_scale", nothing(), DType::f32, row.scale), weight);
    CHECK(made.rules == std::map<std::string, std::string>{{"w", row.rule}});
    CHECK(made.used == std::map<std::string, std::string>{{"w_scale", row.rule}});
  }
}

TEST_CASE("dequantise: what lies beside a weight for its scale is used, too") {
  Tensor weight;
  const Dequantised made =
      made_with(DType::i8, "a.weight", named("a.weight_scale", nothing(), DType::f32, {4}), weight);
  const std::string rule = "dequant(channel)";
  CHECK(made.used == std::map<std::string, std::string>{{"a.weight_scale", rule},
                                                        {"a.input_scale", rule},
                                                        {"a.activation_scale", rule},
                                                        {"a.weight_format", rule}});
}

TEST_CASE("dequantise: how far rounding may have moved a value") {
  // Steps of an integer are equal: half of the largest. A float's is relative to the number before
  // rounding, h |x| <= h / (1 - h) |q|, and half of the least one near 0. A 64th for the scale's.
  struct Row {
    DType dtype;
    std::string scale;
    double rtol, atol;
    std::string source;
  };
  const tests::ArraySource scales = tests::ArraySource::of(std::vector<float>{0.5, -2, 1, 0.25});
  const double slack = 65.0 / 64;
  for (const Row& row :
       {Row{DType::i8, "a.weight_scale", 0, slack, "half a step of i8 with a scale a channel"},
        Row{DType::i8, "a.SCB", 0, slack / 127, "half a step of i8 with a scale a channel"},
        Row{DType::f8_e4m3fn, "a.weight_scale", slack / 15, slack / 512,
            "half a step of f8_e4m3fn with a scale a channel"},
        Row{DType::f8_e5m2, "a.weight_scale_inv", slack / 7, slack / 65536,
            "half a step of f8_e5m2 with a scale a channel"}}) {
    INFO(row.scale << " " << row.source);
    Tensor weight;
    made_with(row.dtype, "a.weight", named(row.scale, scales, DType::f32, {4}), weight);
    REQUIRE(weight.rounding);
    CHECK(weight.rounding->rtol == doctest::Approx(row.rtol).epsilon(1e-14));
    CHECK(weight.rounding->atol == doctest::Approx(row.atol).epsilon(1e-14));
    CHECK(weight.rounding->source == row.source);
  }
}

TEST_CASE("dequantise: each rank's piece and copy is seen through the scale") {
  std::deque<tests::ArraySource> sources;
  const auto row = [&](std::int32_t rank, std::int64_t at, const std::vector<double>& values) {
    return tests::stored_piece(sources, rank, DType::i8, values, Box{{at, 0}, {1, 3}});
  };
  Tensor stored = named("w", nothing(), DType::i8, {2, 3});
  stored.pieces = {row(0, 0, {1, 2, 3}), row(1, 1, {4, 5, 6})};
  stored.replicas = {row(2, 1, {7, 8, 9})};
  const tests::ArraySource scales = tests::ArraySource::of(std::vector<float>{0.5, 3});
  const Tensor step = named("w_scale", scales, DType::f32, {2, 1});
  for (const bool candidate : {false, true}) {
    std::vector<Tensor> with = {stored, step}, without;
    const Dequantised made =
        candidate ? dequantise(without, with, {}) : dequantise(with, without, {});
    const Tensor& weight = with[0];
    CHECK(weight.dtype == DType::f32);
    REQUIRE(weight.pieces.size() == 2);
    REQUIRE(weight.replicas.size() == 1);
    CHECK(weight.pieces[1].rank == 1);
    CHECK(weight.replicas[0].rank == 2);
    std::vector<float> values(6);
    gather(weight, 0, 6, std::as_writable_bytes(std::span(values)));
    CHECK(values == std::vector<float>{0.5, 1, 1.5, 12, 15, 18});
    Tensor copy = weight;
    copy.pieces = {weight.pieces[0], weight.replicas[0]};
    gather(copy, 0, 6, std::as_writable_bytes(std::span(values)));
    CHECK(values == std::vector<float>{0.5, 1, 1.5, 21, 24, 27});
    for (const Piece& piece : copy.pieces) CHECK(piece.dtype == DType::f32);
  }
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
  // Where both sides store it, a map of that weight says that values are meant.
  const std::vector<Tensor> both = {weight(DType::i8), scale("a.weight_scale")};
  const MapRule own{"a.weight", "a.weight", "dequant(channel)"};
  const MapRule other{"b", "b", "dequant(channel)"};
  CHECK_FALSE(seen(both, both));
  CHECK_FALSE(seen(both, both, {other}));
  CHECK_FALSE(seen(both, both, {{"a.weight", "a.weight", "same"}}));
  CHECK(seen(both, both, {own}));
  CHECK(seen(both, both, {own, other}));
  CHECK(seen(both, both, {other, own}));
  // A scale that a map names is one as it stands.
  const tests::ArraySource steps = tests::ArraySource::of(std::vector<float>{1, 4, 2});
  std::vector<Tensor> left, right = {weight(DType::i8), named("a.s", steps, DType::f32, {3, 1})};
  dequantise(left, right, {{"w", "a.{weight,s}", "dequant(channel)"}});
  REQUIRE(right[0].rounding);
  CHECK(right[0].rounding->atol == 65.0 / 64 * 4 / 2);
  // Of a name that a convention has it is what it is there.
  right = {weight(DType::i8), named("a.SCB", steps, DType::f32, {3, 1})};
  dequantise(left, right, {{"w", "a.{weight,SCB}", "dequant(channel)"}});
  REQUIRE(right[0].rounding);
  CHECK(right[0].rounding->atol == doctest::Approx(65.0 / 64 * 4 / 2 / 127));
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
