// SPDX-License-Identifier: Apache-2.0
#include "core/compare/compare.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <random>

#include "core/base/parallel.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

std::vector<float> normal(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<float> values(count);
  for (float& value : values) value = draw(random);
  return values;
}

Compared compare_one(const Tensor& a, const Tensor& b) {
  const Pair pair{&a, &b, {}, {}};
  return std::move(compare({&pair, 1}, {})[0]);
}

TEST_CASE("sums, maxima and their index agree with plain fp64 loops") {
  const std::vector<float> a = normal(1'000'003, 1);
  std::vector<float> b = a;
  for (std::size_t i = 0; i < b.size(); i += 3) b[i] *= 1 + 1e-5F;
  b[700'001] += 0.5F;
  double d2 = 0;
  double a2 = 0;
  double b2 = 0;
  std::int64_t unequal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(b[i]) - static_cast<double>(a[i]);
    d2 += d * d;
    a2 += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    b2 += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    unequal += a[i] != b[i];
  }
  const ArraySource source_a = ArraySource::of(a);
  const ArraySource source_b = ArraySource::of(b);
  const Shape shape{static_cast<std::int64_t>(a.size())};
  const Metrics m =
      compare_one(tensor_of(source_a, DType::f32, shape), tensor_of(source_b, DType::f32, shape))
          .metrics;
  CHECK(m.count == 1'000'003);
  CHECK(m.unequal_values == unequal);
  CHECK(m.unequal_bits == unequal);
  CHECK(m.sum_d2 == doctest::Approx(d2).epsilon(1e-7));
  CHECK(m.sum_a2 == doctest::Approx(a2).epsilon(1e-7));
  CHECK(m.sum_b2 == doctest::Approx(b2).epsilon(1e-7));
  CHECK(m.max_abs_index == 700'001);
  CHECK(m.max_abs == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(worst_index(m) == 700'001);
  CHECK(!m.reference_constant);
  CHECK(!m.rounds_to_candidate);
}

TEST_CASE("an equal pair has no difference and no index") {
  const ArraySource source = ArraySource::of(normal(5000, 2));
  const Tensor tensor = tensor_of(source, DType::f32, {50, 100});
  const Metrics m = compare_one(tensor, tensor).metrics;
  CHECK(m.unequal_bits == 0);
  CHECK(m.sum_d2 == 0);
  CHECK(m.sum_a2 == m.sum_b2);
  CHECK(worst_index(m) == -1);
  CHECK(m.max_rel_index == -1);
  CHECK(m.rel() == 0);
}

TEST_CASE("what is not finite is counted and kept out of the sums") {
  const float inf = INFINITY;
  const std::vector<float> a{1, NAN, inf, -inf, inf, 2, 0.0F, NAN};
  const std::vector<float> b{1, NAN, inf, inf, 3, NAN, -0.0F, -NAN};
  const ArraySource source_a = ArraySource::of(a);
  const ArraySource source_b = ArraySource::of(b);
  const Metrics m =
      compare_one(tensor_of(source_a, DType::f32, {8}), tensor_of(source_b, DType::f32, {8}))
          .metrics;
  CHECK(m.reference == NonFinite{2, 2, 1});
  CHECK(m.candidate == NonFinite{3, 2, 0});
  CHECK(m.non_finite_disagree == 3);
  CHECK(m.non_finite_index == 3);
  CHECK(m.unequal_bits == 5);
  CHECK(m.unequal_values == 3);
  CHECK(m.sum_a2 == 1);
  CHECK(m.sum_d2 == 0);
  CHECK(worst_index(m) == 3);
}

TEST_CASE("squares that underflow or overflow fp32 are measured in fp64") {
  for (const float scale : {1e-30F, 1e-20F, 1e30F}) {
    std::vector<float> a = normal(3000, 3);
    for (float& value : a) value *= scale;
    std::vector<float> b = a;
    for (float& value : b) value *= 1.5F;
    const ArraySource source_a = ArraySource::of(a);
    const ArraySource source_b = ArraySource::of(b);
    const Metrics m = compare_one(tensor_of(source_a, DType::f32, {3000}),
                                  tensor_of(source_b, DType::f32, {3000}))
                          .metrics;
    CHECK(m.rel() == doctest::Approx(0.5).epsilon(1e-6));
    CHECK(m.cosine() == doctest::Approx(1).epsilon(1e-7));
    CHECK(m.norm_ratio() == doctest::Approx(1.5).epsilon(1e-6));
  }
}

TEST_CASE("FS01 an unreadable range is named and the rest is measured") {
  std::vector<float> a(1 << 20, 1.0F);
  ArraySource good = ArraySource::of(a);
  ArraySource bad = ArraySource::of(a);
  bad.broken_from = 3 << 20;
  bad.broken_to = (3 << 20) + 1;
  const auto found =
      compare_one(tensor_of(good, DType::f32, {1 << 20}), tensor_of(bad, DType::f32, {1 << 20}));
  REQUIRE(found.error);
  CHECK(found.error->message() == "broken sector");
  CHECK(found.metrics.count == 3 << 18);
  const Tensor one = tensor_of(good, DType::f32, {1 << 20});
  const Tensor torn = tensor_of(bad, DType::f32, {1 << 20});
  const std::vector<Pair> pairs = {{&one, &torn, {}, {}}, {&one, &one, {}, {}}};
  const auto both = compare(pairs, {});
  CHECK(both[0].error);
  CHECK(!both[1].error);
  CHECK(both[1].metrics.count == 1 << 20);
}

TEST_CASE("work that is stopped keeps what it has and says what was left out") {
  const std::vector<float> values(1 << 20, 1.0F);
  const ArraySource source = ArraySource::of(values);
  const Tensor large = tensor_of(source, DType::f32, {1 << 20});
  const Tensor small = tensor_of(source, DType::f32, {4});
  const std::vector<Pair> pairs = {
      {&small, &small, {}, {}}, {&large, &large, {}, {}}, {&small, &small, {}, {}}};
  CompareOptions options;
  std::atomic<int> asked = 0;
  options.stop = [&] { return ++asked > 3; };
  set_threads(1);
  const auto found = compare(pairs, options);
  set_threads(0);
  CHECK(!found[0].stopped);
  CHECK(found[0].metrics.count == 4);
  CHECK(found[1].stopped);
  CHECK(found[1].metrics.count < 1 << 20);
  CHECK(found[2].stopped);
  CHECK(found[2].metrics.count == 0);
  const ArraySource tape_source = [&] {
    ArraySource made = ArraySource::of(values);
    made.in_order = true;
    return made;
  }();
  const Tensor tape = tensor_of(tape_source, DType::f32, {1 << 20});  // read by one task
  const Pair alone{&tape, &tape, {}, {}};
  asked = 0;
  const auto begun = compare({&alone, 1}, options);
  CHECK(begun[0].stopped);
  CHECK(begun[0].metrics.count > 0);
  CHECK(begun[0].metrics.count < 1 << 20);
  const auto at_once = [] { return true; };
  Tensor held = large;
  held.pieces[0].rank = 0;
  CHECK_THROWS_AS(examine({&large, &held, {}, {}}, Metrics{}, at_once), Stopped);
  CHECK_THROWS_AS(by_rank({&large, &held, {}, {}}, at_once), Stopped);
}

TEST_CASE("replicas are compared with the primary, holes are left out") {
  const std::vector<float> a = normal(600, 4);
  std::vector<float> other = a;
  other[599] = 7;
  const ArraySource source = ArraySource::of(a);
  const ArraySource changed = ArraySource::of(other);
  const Tensor reference = tensor_of(source, DType::f32, {20, 30});
  Tensor candidate = reference;
  for (std::int32_t rank = 1; rank < 4; ++rank) {
    Piece piece = candidate.pieces[0];
    piece.rank = rank;
    if (rank == 2) piece.source = &changed;
    candidate.replicas.push_back(piece);
  }
  const auto found = compare_one(reference, candidate);
  CHECK(found.candidate_differs == std::vector<std::int32_t>{2});
  CHECK(found.reference_differs.empty());
  CHECK(found.metrics.unequal_bits == 0);

  Tensor holed = tensor_of(changed, DType::f32, {20, 30});
  holed.holes = {{{15, 5}, {5, 25}}};
  const Metrics m = compare_one(reference, holed).metrics;
  CHECK(m.count == 600 - 125);
  CHECK(m.unequal_bits == 0);
}

/// `source` as `ranks` shards along dim 1 of [rows, columns], each from a source of its own.
Tensor column_shards(const std::vector<float>& values, Shape shape, std::int64_t ranks,
                     std::vector<ArraySource>& sources) {
  Tensor tensor;
  tensor.dtype = DType::f32;
  tensor.shape = shape;
  const std::int64_t width = shape[1] / ranks;
  for (std::int64_t r = 0; r < ranks; ++r) {
    std::vector<float> local;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        local.push_back(values[static_cast<std::size_t>(i * shape[1] + r * width + j)]);
      }
    }
    sources.push_back(ArraySource::of(local));
  }
  for (std::int64_t r = 0; r < ranks; ++r) {
    Piece piece;
    piece.source = &sources[static_cast<std::size_t>(r)];
    piece.dtype = DType::f32;
    piece.cells = {{{{0, r * width}, {shape[0], width}}, 0, {width, 1}}};
    tensor.pieces.push_back(piece);
  }
  return tensor;
}

/// The same with rows dealt out in zigzag order over two ranks.
Tensor zigzag_shards(const std::vector<float>& values, Shape shape,
                     std::vector<ArraySource>& sources) {
  Tensor tensor;
  tensor.dtype = DType::f32;
  tensor.shape = shape;
  const std::int64_t rows = shape[0] / 4;
  for (const auto& chunks : {std::array{0, 3}, std::array{1, 2}}) {
    std::vector<float> local;
    Piece piece;
    for (const std::int64_t chunk : chunks) {
      piece.cells.push_back({{{chunk * rows, 0}, {rows, shape[1]}},
                             static_cast<std::int64_t>(local.size()),
                             {shape[1], 1}});
      const auto first = values.begin() + chunk * rows * shape[1];
      local.insert(local.end(), first, first + rows * shape[1]);
    }
    sources.push_back(ArraySource::of(local));
    piece.dtype = DType::f32;
    tensor.pieces.push_back(piece);
  }
  for (std::size_t i = 0; i < 2; ++i) tensor.pieces[i].source = &sources[i];
  return tensor;
}

TEST_CASE("metrics do not depend on threads or on how a tensor is cut") {
  const Shape shape{1200, 640};
  const std::vector<float> a = normal(1200 * 640, 6);
  std::vector<float> b = a;
  for (std::size_t i = 0; i < b.size(); i += 7) b[i] += 1e-3F * static_cast<float>(i % 13);
  b[4321] = NAN;
  const ArraySource source_a = ArraySource::of(a);
  ArraySource source_b = ArraySource::of(b);
  const Tensor reference = tensor_of(source_a, DType::f32, shape);
  const Metrics whole = compare_one(reference, tensor_of(source_b, DType::f32, shape)).metrics;
  CHECK(whole.non_finite_index == 4321);
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    CHECK(compare_one(reference, tensor_of(source_b, DType::f32, shape)).metrics == whole);
    for (const std::int64_t ranks : {2, 8}) {
      std::vector<ArraySource> sources;
      const Tensor shards = column_shards(b, shape, ranks, sources);
      CHECK(compare_one(reference, shards).metrics == whole);
      CHECK(compare_one(shards, shards).metrics.unequal_bits == 0);
    }
    std::vector<ArraySource> sources;
    CHECK(compare_one(reference, zigzag_shards(b, shape, sources)).metrics == whole);
  }
  set_threads(0);
  source_b.in_order = true;
  CHECK(compare_one(reference, tensor_of(source_b, DType::f32, shape)).metrics == whole);
}

TEST_CASE("each rank is measured over what it holds") {
  const std::vector<float> a(24, 2.0F);
  std::vector<float> second(12, 2.0F);
  second[11] = 3;
  const ArraySource source = ArraySource::of(a);
  const ArraySource shard = ArraySource::of(second);
  const Tensor reference = tensor_of(source, DType::f32, {4, 6});
  Tensor candidate = reference;
  candidate.pieces[0].rank = 0;
  candidate.pieces[0].cells = {{{{0, 0}, {4, 3}}, 0, {6, 1}}};
  Piece piece = tensor_of(shard, DType::f32, {4, 3}).pieces[0];
  piece.rank = 1;
  piece.cells = {{{{0, 3}, {4, 3}}, 0, {3, 1}}};
  candidate.pieces.push_back(piece);
  const Pair pair{&reference, &candidate, {}, {}};
  const auto ranks = by_rank(pair);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].metrics.count == 12);
  CHECK(ranks[0].metrics.unequal_bits == 0);
  CHECK(ranks[1].rank == 1);
  CHECK(ranks[1].metrics.sum_a2 == 48);
  CHECK(ranks[1].metrics.max_abs == 1);
  CHECK(ranks[1].metrics.max_abs_index == 23);
  CHECK(compare_one(reference, candidate).metrics.sum_d2 == 1);
}

TEST_CASE("copies of addends are compared, and a rank's error is that of the sum with its copy") {
  const std::vector<float> ones(6, 1.0F), twos(6, 2.0F), threes(6, 3.0F);
  std::vector<float> wrong = twos;
  wrong[4] = 2.5F;
  const std::array<ArraySource, 4> sources = {ArraySource::of(ones), ArraySource::of(twos),
                                              ArraySource::of(threes), ArraySource::of(wrong)};
  const Tensor reference = tensor_of(sources[2], DType::f32, {6});
  Tensor candidate;
  candidate.dtype = DType::f32;
  candidate.shape = {6};
  candidate.reduce = Reduce::sum;
  const auto piece = [&](std::size_t source, std::int32_t rank) {
    Piece made = tensor_of(sources[source], DType::f32, {6}).pieces[0];
    made.rank = rank;
    return made;
  };
  candidate.terms = {{piece(0, 0)}, {piece(1, 1)}};
  candidate.term_replicas = {{piece(0, 2)}, {piece(3, 3)}};
  const auto found = compare_one(reference, candidate);
  CHECK(found.metrics.unequal_bits == 0);
  CHECK(found.candidate_differs == std::vector<std::int32_t>{3});
  CHECK(compare_one(candidate, reference).reference_differs == std::vector<std::int32_t>{3});
  const auto ranks = by_rank({&reference, &candidate, {}, {}});
  Tensor first = candidate;
  first.term_replicas = {{piece(3, 2), piece(0, 4)}, {}};
  CHECK(compare_one(reference, first).candidate_differs == std::vector<std::int32_t>{2});
  REQUIRE(ranks.size() == 4);
  for (const RankError& one : ranks) {
    CHECK(one.metrics.count == 6);
    CHECK(one.metrics.max_abs == (one.rank == 3 ? 0.5 : 0.0));
  }
  CHECK(ranks[3].metrics.max_abs_index == 4);
}

}  // namespace
}  // namespace ttcheck::compare
