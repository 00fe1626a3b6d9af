// SPDX-License-Identifier: Apache-2.0
// How explanations are ranked: a score is what one leaves, no less than a floor, times its penalty.

#include "core/explain/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

TEST_CASE("the noise is 4 units of the coarser dtype, or the limit") {
  struct Row {
    DType reference, candidate;
    LimitKind kind;
    double rel, noise;
  };
  for (const Row& row : {Row{DType::f32, DType::f32, LimitKind::exact, 0, 0x1p-21},
                         {DType::f32, DType::bf16, LimitKind::exact, 0, 0x1p-5},
                         {DType::f16, DType::f32, LimitKind::exact, 0, 0x1p-8},
                         {DType::f32, DType::f32, LimitKind::model, 1e-3, 1e-3},
                         {DType::bf16, DType::f32, LimitKind::measured, 1e-3, 0x1p-5},
                         {DType::f32, DType::f32, LimitKind::tolerance, 1, 0x1p-21},
                         {DType::i32, DType::i32, LimitKind::exact, 0, 0}}) {
    TensorResult result;
    result.dtype = row.reference;
    result.candidate_dtype = row.candidate;
    result.limit.kind = row.kind;
    result.limit.rel = row.rel;
    CHECK(noise_of(result) == row.noise);
  }
}

/// Pairs of which more than one hypothesis holds.
struct Row {
  const char* what;
  Shape shape;
  std::vector<double> reference, candidate;
  double rel;
  std::vector<std::string> names;  ///< the best first
  std::vector<double> scores;      ///< theirs
  double error;                    ///< the score of none
};

TEST_CASE("each pair: the winner, and by how much") {
  const auto a = tests::drawn(24, 1.1);
  const auto with = [&](auto&& value_at) {
    std::vector<double> b = a;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = value_at(i);
    return b;
  };
  const auto norm = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
  };
  const double size = norm(a);
  // Floors are the least of noise and a thirtieth of the error, but a thousandth of that at least.
  // The error is at most what the candidate is not made of: 1 of one much larger.
  const double doubled = 1;
  const double flipped = 2 * std::fabs(a[7]) / size;
  std::vector<double> rows = a, mask = a;
  for (std::size_t i = 6; i < 12; ++i) rows[i] += 1;
  const double in_rows = std::sqrt(6) / size;
  for (const std::size_t i : {1U, 9U, 14U, 22U}) mask[i] += 0.5;
  const double in_mask = 1 / size;
  const std::vector<Row> table = {
      {"twice",
       {4, 6},
       a,
       with([&](std::size_t i) { return 2 * a[i]; }),
       0,
       {"scale"},
       {1e-3 * 1.1},
       doubled},
      {"by no whole number",
       {4, 6},
       a,
       with([&](std::size_t i) { return 1.25 * a[i]; }),
       0,
       {"scale"},
       {0.25e-3 * 1.5},
       0.25},
      {"twice, where noise is allowed",
       {4, 6},
       a,
       with([&](std::size_t i) { return 2 * a[i]; }),
       1e-2,
       {"scale"},
       {1e-2 * 1.1},
       doubled},
      {"noise beyond a thirtieth of the error",
       {4, 6},
       a,
       with([&](std::size_t i) { return 1.25 * a[i]; }),
       1e-2,
       {"scale"},
       {0.25 / 30 * 1.5},
       0.25},
      {"one sign: the bit, then its place",
       {4, 6},
       a,
       with([&](std::size_t i) { return i == 7 ? -a[i] : a[i]; }),
       0,
       {"bit-flip", "localised", "localised"},
       {flipped * 1e-3 * 1.1, flipped * 1e-3 * 6, flipped * 1e-3 * 12},
       flipped},
      {"a constant on one row: what was added, then where",
       {4, 6},
       a,
       rows,
       0,
       {"offset", "localised"},
       {in_rows * 1e-3 * 12, in_rows * 1e-3 * 10 / 0.75},
       in_rows},
      {"on four elements",
       {4, 6},
       a,
       mask,
       0,
       {"offset", "localised"},
       {in_mask * 1e-3 * 12, in_mask * 1e-3 * 30},
       in_mask},
  };
  for (const Row& row : table) {
    INFO(std::string(row.what));
    tests::PairBeyond pair(row.shape, row.reference, row.candidate, row.rel);
    pair.subject.noise = noise_of(pair.result);
    if (row.rel == 0) pair.result.ratio = std::numeric_limits<double>::infinity();
    const auto found = explanations(pair.subject, Effort::all);
    std::vector<std::string> names;
    for (const Explanation& one : found) names.push_back(one.hypothesis.name);
    CHECK(names == row.names);
    if (names != row.names) continue;
    double sum = 1 / row.error;
    for (const double score : row.scores) sum += 1 / score;
    for (std::size_t n = 0; n < found.size(); ++n) {
      CAPTURE(n);
      CHECK(found[n].hypothesis.weight == doctest::Approx(1 / row.scores[n] / sum).epsilon(1e-5));
    }
  }
}

TEST_CASE("what leaves more than a thirtieth of the error, or than noise, is no explanation") {
  // B = 2 A + e N, N at right angles to A: scale leaves e |N| / |B|.
  struct Left {
    const char* what;
    double e, rel;
    bool told;
  };
  std::vector<double> a, n;
  for (std::size_t i = 0; i < 32; ++i) {
    a.push_back(i % 2 == 0 ? 1 : -1);
    n.push_back(i % 4 < 2 ? 1 : -1);
  }
  // The error of twice counts as 1, so that a thirtieth of it may be left: e / sqrt(4 + e^2).
  for (const Left& row : {Left{"nearly all", 0.0625, 0, true},
                          {"just", 0.0666, 0, true},
                          {"just not", 0.0668, 0, false},
                          {"within noise, however large", 0.1, 0.06, true},
                          {"beyond it", 0.1, 0.04, false}}) {
    INFO(std::string(row.what));
    std::vector<double> b = a;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 2 * a[i] + row.e * n[i];
    tests::PairBeyond pair({4, 8}, a, b, row.rel);
    pair.subject.noise = noise_of(pair.result);
    bool told = false;
    for (const Explanation& one : explanations(pair.subject, Effort::all)) {
      told = told || one.code == Code::scale;
    }
    CHECK(told == row.told);
  }
}

TEST_CASE("no more than three, and none that scores worse than the error") {
  // One wrong element in each of its slices of five dims, of one rank: element, rank, slice; a bit.
  const auto a = tests::drawn(32, 1.7);
  std::vector<double> b = a;
  b[9] = -a[9];
  tests::PairBeyond pair({4, 8}, a, b);
  for (const std::int32_t rank : {0, 1}) {
    RankError& one = pair.result.ranks.emplace_back();
    one.rank = rank;
    one.metrics.count = 16;
    one.metrics.sum_a2 = 1;
  }
  pair.mesh.axes = {{"dp", 2}};
  pair.result.wrong_ranks = {0};
  pair.subject.noise = noise_of(pair.result);
  const auto found = explanations(pair.subject, Effort::all);
  REQUIRE(found.size() == 3);
  CHECK(found[0].code == Code::bit_flip);
  CHECK(found[1].words.starts_with("only element"));
  CHECK(found[2].words == "only what dp 0 holds is off");
  // Of a limit of a tenth the floor of eight of nine rows, 10 x 9, is beyond any error of it.
  const auto nine = tests::drawn(45, 1.3);
  std::vector<double> most = nine;
  for (std::size_t i = 0; i < 40; i += 2) most[i] += 0.3 * nine[(i + 17) % 45];
  for (std::size_t i = 1; i < 40; i += 2) most[i] -= 0.3 * nine[(i * 7) % 45];
  for (const double rel : {0.0, 0.1}) {
    tests::PairBeyond wide({9, 5}, nine, most, rel);
    wide.subject.noise = noise_of(wide.result);
    CHECK(explanations(wide.subject, Effort::all).empty() == (rel > 0));
  }
}

TEST_CASE("without reading, the first pass alone tells of a factor") {
  const auto a = tests::drawn(24, 1.1);
  std::vector<double> b = a;
  for (double& value : b) value *= 2;
  tests::PairBeyond pair({4, 6}, a, b);
  const auto found = explanations(pair.subject, Effort::sums);
  REQUIRE(found.size() == 1);
  CHECK(found[0].hypothesis.name == "scale");
  b = a;
  b[3] = -b[3];
  tests::PairBeyond bit({4, 6}, a, b);
  CHECK(explanations(bit.subject, Effort::sums).empty());
}

TEST_CASE("bytes that can no longer be read explain nothing, nor do complex numbers") {
  const std::vector<float> twos(8, 2);
  tests::ArraySource broken = tests::ArraySource::of(twos);
  tests::PairBeyond pair({8}, std::vector<double>(8, 1), std::vector<double>(8, 2));
  pair.candidate = tests::tensor_of(broken, DType::f32, {8});
  pair.measure();
  CHECK_FALSE(explanations(pair.subject, Effort::all).empty());
  broken.broken_from = 0;
  broken.broken_to = 4;
  CHECK(explanations(pair.subject, Effort::all).empty());
  broken.broken_to = 0;
  pair.reference.dtype = DType::c64;
  CHECK(explanations(pair.subject, Effort::all).empty());
}

TEST_CASE("what is right as a whole and wrong in places: the whole must leave much less") {
  // Noise of 1e-3 everywhere is within the limit; one element is far off.
  const auto a = tests::drawn(400, 1.1), noise = tests::drawn(400, 2.3);
  std::vector<double> b = a;
  for (std::size_t i = 0; i < a.size(); ++i) b[i] += 1e-3 * noise[i];
  b[55] += 0.1;
  tests::PairBeyond pair({20, 20}, a, b, 1e-2);
  pair.result.limit.outlier = 0.05;
  pair.result.ratio = 0.1 / 0.05;
  pair.subject.noise = noise_of(pair.result);
  const auto found = explanations(pair.subject, Effort::all);
  REQUIRE(!found.empty());
  for (const Explanation& one : found) CHECK(one.code == Code::localised);
}

TEST_CASE("a sample tells what is true of all, and reads on where much is right") {
  constexpr std::size_t kCount = 48 * 1024;
  const auto a = tests::drawn(kCount, 1.1), noise = tests::drawn(kCount, 2.3);
  const auto codes_of = [&](auto&& value_at) {
    std::vector<double> b(kCount);
    for (std::size_t i = 0; i < kCount; ++i) b[i] = value_at(i);
    tests::PairBeyond pair({48, 1024}, a, b, 1e-4);
    pair.subject.noise = noise_of(pair.result);
    std::vector<Code> codes;
    for (const Explanation& one : explanations(pair.subject, Effort::sample)) {
      codes.push_back(one.code);
    }
    return codes;
  };
  CHECK(codes_of([&](std::size_t i) { return a[i] + 1e-2 * noise[i]; }).empty());
  CHECK(codes_of([&](std::size_t i) { return 1.5 * a[i]; }).front() == Code::scale);
  CHECK(codes_of([&](std::size_t i) { return a[i] + 0.25; }).front() == Code::offset);
  CHECK(codes_of([&](std::size_t i) { return a[i / 1024 * 1024 + 1023 - i % 1024]; }).front() ==
        Code::permutation);
  // A quarter of the rows: most of the sample is right.
  const auto rows = codes_of([&](std::size_t i) { return i < kCount / 4 ? noise[i] : a[i]; });
  CHECK(std::ranges::find(rows, Code::localised) != rows.end());
}

}  // namespace
}  // namespace ttcheck::explain
