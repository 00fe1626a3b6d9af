// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/judge.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/model/axes.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/facts.hpp"

namespace ttcheck::verdict {
namespace {

Tensor tensor(DType dtype = DType::f32) {
  Tensor made;
  made.identity.name = "w";
  made.dtype = dtype;
  made.shape = {2, 2};
  return made;
}

/// A = (3, 4, 0, 0), B off by `d` in one place.
Metrics off_by(double d) {
  Metrics metrics;
  metrics.count = 4;
  metrics.unequal_bits = metrics.unequal_values = d == 0 ? 0 : 1;
  metrics.sum_a2 = metrics.sum_b2 = 25;
  metrics.sum_d2 = metrics.max_block_d2 = d * d;
  metrics.max_abs = d;
  metrics.max_abs_index = 1;
  return metrics;
}

Limit model(double rel) {
  Limit limit;
  limit.kind = LimitKind::model;
  limit.rel = rel;
  limit.row = 6 * rel;
  limit.outlier = 16 * rel;
  return limit;
}

TEST_CASE("equal bits are equal, whatever the limit") {
  const TensorResult result = judge(tensor(), tensor(), off_by(0), {}, {});
  CHECK(result.outcome() == Outcome::equal);
  CHECK(result.cast.empty());
}

TEST_CASE("the casts under which two tensors are equal have names") {
  CHECK(equal_under(tensor(DType::bf16), tensor(DType::f32), off_by(0)) == "widening f32");
  Metrics rounded = off_by(0.5);
  rounded.rounds_to_candidate = true;
  CHECK(equal_under(tensor(DType::f32), tensor(DType::bf16), rounded) == "rounding bf16");
  Metrics zero = off_by(0);
  zero.unequal_bits = 1;
  CHECK(equal_under(tensor(), tensor(), zero) == "signed-zero");
  zero.reference.nan = 1;
  CHECK(equal_under(tensor(), tensor(), zero) == "nan-payload");
  zero.non_finite_disagree = 1;
  CHECK(!equal_under(tensor(), tensor(), zero));
}

TEST_CASE("noise within the limit, diverged beyond it, any difference beyond exact") {
  CHECK(judge(tensor(), tensor(), off_by(0.05), model(0.02), {}).outcome() == Outcome::noise);
  const TensorResult beyond = judge(tensor(), tensor(), off_by(0.5), model(0.02), {});
  CHECK(beyond.outcome() == Outcome::diverged);
  CHECK(beyond.ratio == doctest::Approx(5));
  CHECK(beyond.test == Test::rel);
  CHECK(judge(tensor(), tensor(), off_by(1e-30), {}, {}).outcome() == Outcome::diverged);
}

TEST_CASE("a row or an element beyond its limit diverges though rel is within") {
  Detail detail;
  detail.row = 1;
  detail.row_error = 0.7;
  const TensorResult row = judge(tensor(), tensor(), off_by(0.05), model(0.1), {.detail = detail});
  CHECK(row.outcome() == Outcome::diverged);
  CHECK(row.test == Test::row);
  detail.row_error = 0;
  detail.outlier = 3.2;
  const TensorResult element =
      judge(tensor(), tensor(), off_by(0.05), model(0.1), {.detail = detail});
  CHECK(element.test == Test::outlier);
  CHECK(element.ratio == doctest::Approx(2));
}

TEST_CASE("what a sentinel leaves is held to the limit by itself") {
  const Sentinel sentinel{-1e9, 7, 0.7, 3};
  const TensorResult rest =
      judge(tensor(), tensor(), off_by(0.05), model(0.1), {.sentinel = sentinel});
  CHECK(rest.outcome() == Outcome::diverged);
  CHECK(rest.test == Test::rest);
  CHECK(rest.error == 0.7);
  CHECK(rest.allowed == 0.1);
  CHECK(beyond(sentinel, model(0.1)));
  CHECK(beyond({-1e9, 7, 0.01, 2}, model(0.1)));
  CHECK(!beyond({-1e9, 7, 0.01, 1}, model(0.1)));
  Metrics near = off_by(0.05);
  CHECK(!may_hide(tensor(), near, model(0.1)));  // no element is beyond the limit
  near.max_rel = 0.1;
  CHECK(may_hide(tensor(), near, model(0.1)));
  near.sum_d2 = 25;
  CHECK(!may_hide(tensor(), near, model(0.01)));
  near.sum_d2 = 0.0025;
  CHECK(!may_hide(tensor(), off_by(0), model(0.1)));
  CHECK(!may_hide(tensor(), near, {}));
  Tensor gradient = tensor();
  gradient.identity.phase = Phase::backward;
  CHECK(!may_hide(gradient, near, model(0.1)));
}

TEST_CASE("NaN on one side only is divergence under every limit") {
  Metrics metrics = off_by(0);
  metrics.non_finite_disagree = 1;
  metrics.non_finite_index = 3;
  for (const double limit : {10.0, std::numeric_limits<double>::infinity()}) {
    const TensorResult result = judge(tensor(), tensor(), metrics, model(limit), {});
    CHECK(result.outcome() == Outcome::diverged);
    CHECK(result.test == Test::non_finite);
  }
}

TEST_CASE("wrong ranks are those whose own part is beyond the limit") {
  const std::vector<RankError> ranks = {{0, off_by(0)}, {1, off_by(5)}};
  CHECK(judge(tensor(), tensor(), off_by(5), model(0.01), {.ranks = ranks}).wrong_ranks ==
        std::vector<std::int32_t>{1});
}

TEST_CASE("pass 2 is made where pass 1 cannot rule out a bad row or element") {
  CHECK(!needs_detail(tensor(), off_by(0), model(0.1)));
  CHECK(!needs_detail(tensor(), off_by(0.001), model(0.1)));
  Metrics spike = off_by(0.1);
  spike.max_abs = 100;
  CHECK(needs_detail(tensor(), spike, model(0.1)));
}

TEST_CASE("what pass 1 must see for pass 2 to be spared") {
  // A mean square of 4: elements may be 2 x 16 rel off, a row of n elements have a d^2 of 36 rel^2
  // times 4 n, and it touches one block of 512 more than it fills.
  constexpr double kRel = 0.125;
  struct Row {
    const char* what;
    Shape shape;
    double rel2, max_abs, block;
    bool needed;
  };
  for (const Row& row : {
           Row{"all at the bound", {2, 2}, 1. / 64, 4, 36. / 64 * 4 * 2 / 2, false},
           Row{"rel", {2, 2}, 1.01 / 64, 1, 0, true},
           Row{"an element", {2, 2}, 1. / 64, 4.01, 0, true},
           Row{"a row", {2, 2}, 1. / 64, 1, 36. / 64 * 4 * 2 / 2 * 1.01, true},
           Row{"a row of 512", {1, 512}, 1. / 64, 1, 36. / 64 * 4 * 512 / 2, false},
           Row{"a row of 513", {1, 513}, 1. / 64, 1, 36. / 64 * 4 * 513 / 3, false},
           Row{"a row of 513, beyond", {1, 513}, 1. / 64, 1, 36. / 64 * 4 * 513 / 3 * 1.01, true},
           Row{"what has no rows", {4}, 1. / 64, 4, 1e9, false},
       }) {
    CAPTURE(row.what);
    Tensor shaped = tensor();
    shaped.shape = row.shape;
    Metrics metrics = off_by(1);
    metrics.count = element_count(row.shape);
    metrics.sum_a2 = 4 * static_cast<double>(metrics.count);
    metrics.sum_d2 = row.rel2 * metrics.sum_a2;
    metrics.max_abs = row.max_abs;
    metrics.max_block_d2 = row.block;
    CHECK(needs_detail(shaped, metrics, model(kRel)) == row.needed);
    metrics.unequal_values = 0;
    CHECK_FALSE(needs_detail(shaped, metrics, model(kRel)));
    metrics.non_finite_disagree = 1;
    CHECK(needs_detail(shaped, metrics, model(kRel)));
  }
  Limit elementwise;
  elementwise.kind = LimitKind::tolerance;
  Metrics metrics = off_by(1);
  metrics.max_quotient = 1;
  CHECK_FALSE(needs_detail(tensor(), metrics, elementwise));
  metrics.max_quotient = 1.01;
  CHECK(needs_detail(tensor(), metrics, elementwise));
  CHECK(needs_detail(tensor(), off_by(1e-30), {}));  // exact
}

TEST_CASE("facts compare by value; notes never differ") {
  const std::vector<Fact> left = {{"lr", 1.0, FactUse::compared, {}},
                                  {"step", std::int64_t{3}, FactUse::compared, {}},
                                  {"path", std::string("a"), FactUse::note, {}}};
  const std::vector<Fact> right = {{"lr", std::int64_t{1}, FactUse::compared, {}},
                                   {"step", std::int64_t{4}, FactUse::compared, {}},
                                   {"path", std::string("b"), FactUse::note, {}}};
  const auto facts = compare_facts(left, right, true);
  CHECK(facts[0].verdict == "equal");
  CHECK(facts[1].verdict == "differs");
  CHECK(facts[2].verdict == "note");
  const auto findings = fact_findings(facts, {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].code == Code::config);
}

TEST_CASE("axes are given where the ranks are a product and not the whole axis") {
  Mesh mesh;
  mesh.axes = {{"pp", 2}, {"tp", 2}};
  using Ranks = std::vector<std::int32_t>;
  const AxisCoordinates one = axes_of(Ranks{1, 3}, mesh);
  REQUIRE(one.size() == 1);
  CHECK(one[0].first == "tp");
  CHECK(one[0].second == std::vector<std::int64_t>{1});
  CHECK(axes_of(Ranks{0, 3}, mesh).empty());
  CHECK(axes_of(Ranks{0, 1, 2, 3}, mesh).empty());
}

TEST_CASE("a run that compared nothing is never equal, and an incomplete one neither") {
  Verdict nothing;
  conclude(nothing, "");
  CHECK(nothing.outcome == Outcome::not_comparable);
  Verdict partial;
  partial.coverage.paired = 3;
  partial.coverage.unreadable = 1;
  conclude(partial, "");
  CHECK(partial.outcome == Outcome::not_comparable);
  CHECK(partial.reason == "incomplete");
  partial.coverage.unreadable = 0;
  conclude(partial, "");
  CHECK(partial.outcome == Outcome::equal);
}

}  // namespace
}  // namespace ttcheck::verdict
