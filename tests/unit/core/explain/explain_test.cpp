// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/explain/arrangement.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/moments_reset.hpp"
#include "core/explain/sketch.hpp"
#include "core/model/decode.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

using tests::ArraySource;
using tests::tensor_of;

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(count);
  for (float& value : values) value = draw(random);
  return values;
}

/// The best explanation of `b` against `a`, held to a model's limit of `rel`; 0: none may differ.
std::vector<Explanation> explained(const std::vector<float>& a, const std::vector<float>& b,
                                   const Shape& shape, double rel, std::string name = "w",
                                   std::vector<Known> known = {}) {
  const ArraySource source_a = ArraySource::of(a);
  const ArraySource source_b = ArraySource::of(b);
  const Tensor reference = tensor_of(source_a, DType::f32, shape);
  const Tensor candidate = tensor_of(source_b, DType::f32, shape);
  Subject subject;
  subject.pair = {&reference, &candidate};
  TensorResult result;
  result.identity.name = std::move(name);
  subject.known = std::move(known);
  result.metrics = compare::compare({&subject.pair, 1}, {})[0].metrics;
  result.limit.rel = rel;
  if (rel > 0) result.limit.kind = LimitKind::model;
  result.limit.row = 6 * rel;
  result.limit.outlier = 16 * rel;
  result.ratio = rel > 0 ? result.metrics.rel() / rel : INFINITY;
  const Mesh mesh;
  const Numbers numbers;
  subject.result = &result;
  subject.mesh = &mesh;
  subject.numbers = &numbers;
  subject.noise = noise_of(result);
  return explanations(subject, Effort::all);
}

TEST_CASE("what differs everywhere by itself is not explained") {
  const auto a = drawn(600, 1);
  auto b = drawn(600, 2);
  CHECK(explained(a, b, {20, 30}, 1e-6).empty());
  CHECK(explained(a, b, {20, 30}, 0).empty());
  for (float& value : b) value *= 1e4F;
  CHECK(explained(a, b, {20, 30}, 0).empty());
  for (float& value : b) value /= 1e4F;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = a[i] + b[i] * 1e-5F;
  CHECK(explained(a, b, {20, 30}, 1e-6).empty());
}

TEST_CASE(
    "TT202: a multiple of a mask is a constant, added where it lets it; of a tensor it is TT611") {
  const auto a = drawn(600, 1);
  auto b = a, mask = a, other = drawn(600, 3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    mask[i] = i % 3 == 0 ? 0 : 2;
    b[i] += 0.35F * mask[i] + 1e-3F * other[i];
  }
  const auto best = [&](const std::vector<float>& values) {
    const ArraySource source = ArraySource::of(values);
    Tensor known = tensor_of(source, DType::f32, {20, 30});
    known.identity.name = "loss/input.2";
    const auto found = explained(a, b, {20, 30}, 2e-3, "loss/output.0", {{&known, "loss/input.2"}});
    REQUIRE(!found.empty());
    return found.front();
  };
  CHECK(best(mask).code == Code::offset);
  CHECK(best(mask).words.ends_with(" where loss/input.2 is not zero"));
  mask[1] = 2.02F;
  CHECK(best(mask).code == Code::residual_is);
}

TEST_CASE("TT304: a moment in the place of a master, but no weight under its master's name") {
  const auto a = drawn(600, 1);
  auto b = drawn(600, 2);
  for (float& value : b) value *= 1e-4F;
  const ArraySource source = ArraySource::of(b);
  Tensor other = tensor_of(source, DType::f32, {20, 30});
  const auto best = [&](const char* name, const char* its) {
    other.identity.name = its;
    return explained(a, b, {20, 30}, 0, name, {{&other, its}});
  };
  for (const char* name : {"w@master", "w", "v"}) {
    const auto found = best(name, "w@exp_avg");
    REQUIRE(!found.empty());
    CHECK(found[0].code == Code::name_mapping);
  }
  CHECK(best("w", "w@master").empty());
  CHECK(best("w@master", "w").empty());
}

TEST_CASE("TT308: numbers whose bytes were written in the other order") {
  const auto a = drawn(600, 1);
  std::vector<float> b(a.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = std::bit_cast<float>(__builtin_bswap32(std::bit_cast<std::uint32_t>(a[i])));
  }
  for (const double rel : {0.0, 1e-6}) {
    const auto turned = explained(a, b, {20, 30}, rel);
    REQUIRE(!turned.empty());
    CHECK(turned[0].code == Code::byte_order);
    CHECK(turned[0].hypothesis.name == "byte-order");
  }
  b[5] = 1;
  for (const Explanation& other : explained(a, b, {20, 30}, 0)) {
    CHECK(other.code != Code::byte_order);
  }
}

TEST_CASE("a fault is found under noise that is within the limit") {
  const auto a = drawn(600, 1);
  const auto noise = drawn(600, 3);
  const auto with_noise = [&](auto&& value_at) {
    std::vector<float> b(a.size());
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = value_at(i) + noise[i] * 3e-7F;
    return explained(a, b, {20, 30}, 1e-6);
  };
  const auto tripled = with_noise([&](std::size_t i) { return 3 * a[i]; });
  REQUIRE(!tripled.empty());
  CHECK(tripled[0].code == Code::scale);
  CHECK(std::get<double>(tripled[0].hypothesis.parameters[0].second) == doctest::Approx(3));
  const auto moved = with_noise([&](std::size_t i) { return a[(i + 60) % 600]; });
  REQUIRE(!moved.empty());
  CHECK(moved[0].code == Code::permutation);
  CHECK(moved[0].hypothesis.name == "shift");
  CHECK(std::get<std::int64_t>(moved[0].hypothesis.parameters[0].second) == 2);
  const auto flipped = with_noise([&](std::size_t i) { return i == 77 ? -a[i] : a[i]; });
  REQUIRE(!flipped.empty());
  CHECK(flipped[0].code == Code::bit_flip);
  CHECK(flipped[0].hypothesis.parameters[1].second == Parameter(std::int64_t{31}));
  CHECK(flipped[0].hypothesis.residual < 1e-6);
}

TEST_CASE("TT603: values of a coarser type, and sums of two of them") {
  const auto a = drawn(600, 1), part = drawn(600, 2);
  const auto rounded = [](float value) {
    return static_cast<float>(value_of(DType::bf16, code_of(DType::bf16, value)));
  };
  auto coarse = a, sums = a, finer = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    coarse[i] = rounded(a[i]);
    sums[i] = rounded(part[i]) + rounded(a[i] - part[i]);
    finer[i] = a[i] + (rounded(part[i]) - part[i]);  // as far off, on no grid
  }
  const auto code_of_best = [&](const std::vector<float>& b) {
    const auto found = explained(a, b, {20, 30}, 1e-6);
    return found.empty() ? Code::diverged : found[0].code;
  };
  CHECK(code_of_best(coarse) == Code::precision);
  CHECK(code_of_best(sums) == Code::precision);
  CHECK(code_of_best(finer) == Code::diverged);
}

TEST_CASE("TT202: a constant was added wherever a mask lets it") {
  const auto a = drawn(600, 1), noise = drawn(600, 3);
  const auto masked = [](std::size_t i) { return i % 30 < 4 || i % 7 == 0; };
  auto b = a, other = a, filled = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (masked(i)) continue;
    b[i] += 0.5F;
    other[i] += 0.5F + 0.1F * noise[i];
    filled[i] = 0.5F;
  }
  for (const double rel : {0.0, 1e-6}) {
    const auto found = explained(a, b, {20, 30}, rel);
    REQUIRE(!found.empty());
    CHECK(found[0].code == Code::offset);
    CHECK(std::get<double>(found[0].hypothesis.parameters[0].second) == doctest::Approx(0.5));
    CHECK(found[0].hypothesis.residual < 1e-6);
    for (const auto& values : {other, filled}) {
      for (const Explanation& one : explained(a, values, {20, 30}, rel)) {
        CHECK(one.code != Code::offset);
      }
    }
  }
}

TEST_CASE("weights of all explanations and of none make one") {
  auto a = drawn(600, 1);
  auto b = a;
  for (std::size_t i = 60; i < 90; ++i) b[i] += 1;
  const auto found = explained(a, b, {20, 30}, 0);
  REQUIRE(!found.empty());
  CHECK(found[0].code == Code::localised);
  double sum = 0;
  for (const Explanation& one : found) sum += one.hypothesis.weight;
  CHECK(sum > 0.5);
  CHECK(sum < 1);
}

TEST_CASE("a NaN on one side has a place and no other explanation") {
  const auto a = drawn(600, 1);
  auto b = a;
  b[45] = NAN;
  for (const Explanation& one : explained(a, b, {20, 30}, 0)) CHECK(one.code == Code::localised);
}

TEST_CASE("a bit that made a NaN is the only explanation, and sure") {
  auto a = drawn(600, 1);
  a[45] = 1.5F;
  auto b = a;
  b[45] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a[45]) ^ (1U << 30));
  const auto found = explained(a, b, {20, 30}, 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == Code::bit_flip);
  CHECK(found[0].hypothesis.weight == 1);
}

TEST_CASE("sketches are equal where slices are, of rows and of columns alike") {
  const auto a = drawn(36, 4);
  std::vector<float> transposed(36);
  for (std::size_t i = 0; i < 36; ++i) transposed[i] = a[i % 6 * 6 + i / 6];
  const ArraySource source_a = ArraySource::of(a);
  const ArraySource source_b = ArraySource::of(transposed);
  const auto of_a = sketches_of(tensor_of(source_a, DType::f32, {6, 6}), nullptr);
  const auto of_b = sketches_of(tensor_of(source_b, DType::f32, {6, 6}), nullptr);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(of_a[0].of[i] == of_b[1].of[i]);
    CHECK(of_a[1].of[i] == of_b[0].of[i]);
    CHECK(of_a[0].norm2[i] == of_b[1].norm2[i]);
  }
}

TEST_CASE("the signs of a sketch are the low bits of SplitMix64's first number of each seed") {
  // E220A8397B1DCDAF of 0, 910A2DEC89025CC1 of 1, ...
  const std::string_view digits =
      "f1edaa0764ad3fe57324c7a649aac0ea18dbb70c2958367538b8a65c712c71a5";
  for (std::size_t place = 0; place < 64; ++place) {
    CAPTURE(place);
    std::vector<float> one(64);
    one[place] = 1;
    const ArraySource source = ArraySource::of(one);
    const Sketch sketch = sketches_of(tensor_of(source, DType::f32, {1, 64}), nullptr)[0].of[0];
    const auto digit = std::stoul(std::string(digits.substr(place, 1)), nullptr, 16);
    for (std::size_t j = 0; j < kSigns; ++j) {
      CHECK(sketch[j] == ((digit >> j & 1) != 0 ? 1 : -1));
    }
  }
}

TEST_CASE("two neighbouring dimensions that changed places are a transposition") {
  const auto a = drawn(7 * 5 * 5, 4);
  std::vector<float> b(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) b[i] = a[i / 25 * 25 + i % 5 * 5 + i / 5 % 5];
  const auto found = explained(a, b, {7, 5, 5}, 0);
  REQUIRE(!found.empty());
  CHECK(found[0].hypothesis.name == "transpose");
  CHECK(found[0].hypothesis.residual == 0);
  CHECK(found[0].words == "it is the reference transposed (its dimensions 1 and 2)");
}

TEST_CASE("TT301: one expert of a stack whose gate and up changed places") {
  const auto a = drawn(3 * 4 * 6, 4);
  auto b = a;
  for (std::size_t i = 0; i < 24; ++i) b[24 + i] = a[24 + (i + 12) % 24];
  for (const double rel : {0.0, 1e-6}) {
    const auto found = explained(a, b, {3, 4, 6}, rel, "mlp.experts.gate_up_proj");
    REQUIRE(!found.empty());
    CHECK(found[0].code == Code::permutation);
    CHECK(found[0].hypothesis.name == "glu-halves");
    CHECK(std::get<std::int64_t>(found[0].hypothesis.parameters[1].second) == 1);
    CHECK(found[0].hypothesis.residual == 0);
    CHECK(found[0].words ==
          "its slice 1 is that of the reference in another order along dimension 1 (glu-halves): "
          "blocks of 2 are those that stood at 1, 0");
  }
  auto other = b;
  for (float& value : other) value += 0.2F;  // the rest is wrong too
  for (const Explanation& one : explained(a, other, {3, 4, 6}, 1e-6)) {
    CHECK(one.code != Code::permutation);
  }
}

TEST_CASE("rearrangements go by the layouts that make them") {
  const auto name_of = [](std::vector<std::int64_t> from, std::string tensor, Numbers numbers = {},
                          std::size_t dim = 0) {
    return arrangement_of({std::move(from), std::move(tensor), &numbers, dim}).name;
  };
  CHECK(name_of({4, 5, 6, 7, 0, 1, 2, 3}, "mlp.gate_up_proj.weight") == "glu-halves");
  CHECK(name_of({0, 4, 1, 5, 2, 6, 3, 7}, "mlp.linear_fc1.weight") == "glu-halves");
  CHECK(name_of({0, 2, 4, 1, 3, 5}, "attention.query_key_value.weight") == "qkv-interleave");
  CHECK(name_of({0, 1, 4, 6, 2, 3, 5, 7}, "attention.qkv.weight") == "qkv-interleave");
  CHECK(name_of({0, 1, 2, 3, 4, 6, 5, 7}, "attn.k_proj.weight", {{"head_dim", 4}}) ==
        "rope-halves");
  CHECK(name_of({2, 3, 0, 1, 4, 5, 8, 9, 6, 7}, "attn.o_proj.weight", {{"head_dim", 2}}) ==
        "heads");
  CHECK(name_of({0, 7, 1, 6, 2, 5, 3, 4}, "embedding") == "zigzag");
  CHECK(name_of({1, 2, 3, 0}, "experts.w1") == "experts");
  CHECK(name_of({1, 2, 3, 0}, "mlp.gate.weight") == "experts");
  CHECK(name_of({0, 2, 4, 1, 3, 5}, "experts.gate_up_proj", {}, 2) == "glu-halves");
  CHECK(name_of({3, 4, 5, 0, 1, 2}, "experts.7.gate_up_proj.weight") == "glu-halves");
  CHECK(name_of({1, 2, 3, 0}, "positions") == "shift");
  CHECK(name_of({3, 0, 2, 1, 4}, "embedding") == "permutation");
}

TEST_CASE("moments of which nothing is left were reset, whatever else is zero was not") {
  const auto a = drawn(24, 5);
  const ArraySource source_a = ArraySource::of(a);
  const ArraySource zeros = ArraySource::of(std::vector<float>(24));
  const Tensor reference = tensor_of(source_a, DType::f32, {4, 6});
  const Tensor candidate = tensor_of(zeros, DType::f32, {4, 6});
  const auto reset = [](const Tensor& left, const Tensor& right, Kind kind) {
    Subject subject;
    subject.pair = {&left, &right};
    TensorResult result;
    result.kind = kind;
    result.metrics = compare::compare({&subject.pair, 1}, {})[0].metrics;
    subject.result = &result;
    return moments_reset(subject);
  };
  for (const Kind kind : {Kind::moment1, Kind::moment2, Kind::momentum}) {
    const auto found = reset(reference, candidate, kind);
    REQUIRE(found);
    CHECK(found->code == Code::moments_reset);
    CHECK(found->hypothesis.name == "scale");
    CHECK(std::get<double>(found->hypothesis.parameters.at(0).second) == 0);
    CHECK(found->hypothesis.residual == 0);
    CHECK(found->words ==
          "the candidate's moments are zero, as those of an optimizer that starts anew");
  }
  const ArraySource nans = ArraySource::of(std::vector<float>(24, NAN));
  const ArraySource small = ArraySource::of(std::vector<float>(24, 0x1p-10F));
  CHECK_FALSE(reset(reference, tensor_of(nans, DType::f32, {4, 6}), Kind::moment1));
  CHECK(reset(tensor_of(small, DType::f32, {4, 6}), candidate, Kind::moment2));
  CHECK_FALSE(reset(reference, candidate, Kind::weight));
  CHECK_FALSE(reset(candidate, reference, Kind::moment1));
  CHECK_FALSE(reset(candidate, candidate, Kind::moment1));
  CHECK_FALSE(reset(reference, reference, Kind::moment2));
}

TEST_CASE("damage that fills one rank's slice is that rank's, and a smaller run is a run") {
  const auto a = drawn(64, 6);
  const ArraySource source_a = ArraySource::of(a);
  const Tensor reference = tensor_of(source_a, DType::f32, {64});
  const Mesh mesh{{{"dp", 2}}, {}, {}};
  const Numbers numbers;
  const auto best = [&](std::size_t end) {
    auto b = a;
    for (std::size_t i = 32; i < end; ++i) b[i] = a[(i * 7) % 64] + 1;
    const ArraySource source_b = ArraySource::of(b);
    Tensor candidate = tensor_of(source_b, DType::f32, {64});
    const Piece all = candidate.pieces.front();
    candidate.pieces.clear();
    for (const std::int32_t rank : {0, 1}) {
      Piece half = all;
      half.rank = rank;
      half.cells = {{{{rank * 32}, {32}}, rank * 32, {1}}};
      candidate.pieces.push_back(half);
    }
    Subject subject;
    subject.pair = {&reference, &candidate};
    TensorResult result;
    result.identity.name = "w";
    result.metrics = compare::compare({&subject.pair, 1}, {})[0].metrics;
    result.limit.kind = LimitKind::model;
    result.limit.rel = 1e-6;
    result.limit.outlier = 16e-6;
    result.ratio = result.metrics.rel() / 1e-6;
    result.ranks = compare::by_rank(subject.pair, [] { return false; });
    result.wrong_ranks = {1};
    subject.result = &result;
    subject.mesh = &mesh;
    subject.numbers = &numbers;
    subject.noise = noise_of(result);
    return explanations(subject, Effort::all).front();
  };
  const Explanation slice = best(64);
  CHECK(slice.code == Code::localised);
  CHECK(slice.words == "only what dp 1 holds is off");
  CHECK(best(45).code == Code::chunk);
}

}  // namespace
}  // namespace ttcheck::explain
