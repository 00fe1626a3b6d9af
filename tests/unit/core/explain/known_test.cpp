// SPDX-License-Identifier: Apache-2.0
#include "core/explain/known.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

std::vector<double> plus(std::vector<double> a, double k, const std::vector<double>& x) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += k * x[i];
  return a;
}

/// A pair of that name and one other tensor.
struct Row {
  const char* what;
  std::string own;    ///< the name of the pair
  std::string other;  ///< of the tensor
  Code code;
  std::string words;
  double penalty = 1.2;
  std::string hypothesis = "residual";
  bool earlier = false;
  Phase phase = Phase::none;
};

TEST_CASE("the candidate is another tensor: by its name what came about") {
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3);
  const Row rows[] = {
      {"of another name", "a.weight", "b.weight", Code::name_mapping,
       "it is X, under another name"},
      {"of another layer", "layers.1.w", "layers.12.w", Code::layer_mapping,
       "it is another layer's: X", 1.2, "layers"},
      {"of another expert", "layers.1.experts.2.w", "layers.1.experts.3.w", Code::permutation,
       "it is another expert's: X", 1.2, "experts"},
      {"of a layer and an expert", "layers.1.experts.2.w", "layers.2.experts.3.w",
       Code::name_mapping, "it is X, under another name"},
      {"of another layer's experts", "experts.layers.1.w", "experts.layers.2.w",
       Code::layer_mapping, "it is another layer's: X", 1.2, "layers"},
      {"of another projection", "layers.1.w1", "layers.1.w3", Code::name_mapping,
       "it is X, under another name"},
      {"of a name that begins with a number", "1.w", "2.w", Code::layer_mapping,
       "it is another layer's: X", 1.2, "layers"},
      {"of two digits", "12.w", "13.w", Code::layer_mapping, "it is another layer's: X", 1.2,
       "layers"},
      {"of a name that begins with a number and says expert behind", "1.expert", "2.expert",
       Code::layer_mapping, "it is another layer's: X", 1.2, "layers"},
      {"of an expert in a short name", "expert.1.w", "expert.2.w", Code::permutation,
       "it is another expert's: X", 1.2, "experts"},
      {"of a digit in a word", "x1", "x2", Code::name_mapping, "it is X, under another name"},
      {"of a number that is there in one", "layers.1a", "layers.a", Code::name_mapping,
       "it is X, under another name"},
      {"or in the other", "layers.a", "layers.1a", Code::name_mapping,
       "it is X, under another name"},
      {"of the same digits and more", "layers.1.w", "layers.1.ww", Code::name_mapping,
       "it is X, under another name"},
      {"before the update", "w", "w", Code::stale_replica,
       "it still is what it was before the update: X", 1.2, "residual", true, Phase::state},
      {"earlier in the step", "w", "w", Code::residual_is, "it still is what it was earlier: X", 4,
       "residual", true, Phase::backward},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({4, 6}, a, x);
    pair.result.identity.name = row.own;
    pair.result.identity.phase = row.phase;
    Tensor other = pair.hold({4, 6}, x);
    other.identity = {row.other, row.phase, 0, 0};
    pair.subject.known = {{&other, "X", row.earlier}};
    const auto found = known(pair.subject, pair.seen());
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == row.code);
    CHECK(found[0].words == row.words);
    CHECK(found[0].penalty == row.penalty);
    CHECK(found[0].hypothesis.name == row.hypothesis);
    CHECK(found[0].hypothesis.residual == 0);
    CHECK(tests::parameter_of<std::string>(found[0], "equals") == "X");
  }
}

TEST_CASE("where it may not be another tensor") {
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3);
  struct Names {
    const char* what;
    std::string own, other;
    Phase phase;
    bool same;
  };
  for (const Names& row : {Names{"parameters", "a", "b", Phase::none, true},
                           {"of a state", "a", "b", Phase::state, true},
                           {"values of an op are no other op's", "a", "b", Phase::forward, false},
                           {"a weight and its master", "w", "w@master", Phase::none, false},
                           {"a master and its weight", "w@master", "w", Phase::none, false},
                           {"another's master", "w", "v@master", Phase::none, true},
                           {"a longer name's", "w", "w.b@master", Phase::none, true},
                           {"its moment", "w", "w@moment", Phase::none, true}}) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({4, 6}, a, x);
    pair.result.identity = {row.own, row.phase, 0, 0};
    Tensor other = pair.hold({4, 6}, x);
    other.identity = {row.other, row.phase, 0, 0};
    pair.subject.known = {{&other, "X"}};
    const auto found = known(pair.subject, pair.seen());
    CHECK((found.size() == 1 && found[0].words == "it is X, under another name") == row.same);
  }
  // Half of what is not zero has another value, or all would seem to be their ties.
  for (const std::size_t changed : {12U, 11U}) {
    std::vector<double> b = a;
    for (std::size_t i = 0; i < changed; ++i) b[i] = x[i];
    tests::PairBeyond pair({4, 6}, a, b);
    const Tensor other = pair.hold({4, 6}, b);
    pair.subject.known = {{&other, "X"}};
    CHECK(known(pair.subject, pair.seen()).size() == (changed == 12 ? 1 : 0));
  }
  tests::PairBeyond zeros({4, 6}, a, std::vector<double>(24));
  const Tensor none = zeros.hold({4, 6}, std::vector<double>(24));
  zeros.subject.known = {{&none, "X"}};
  CHECK(known(zeros.subject, zeros.seen()).empty());
}

TEST_CASE("candidate - reference is a multiple of a tensor") {
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3);
  struct Multiple {
    double k;
    std::string equals;
    double penalty;
    double noise = 1e-6;
  };
  for (const Multiple& row : {Multiple{1, "X", 2},
                              {-1, "-1 x X", 2},
                              {3, "3 x X", 2},
                              {1.0078125, "X", 2},
                              {1.015625, "1.016 x X", 8},
                              {1.064, "X", 2, 0.0161},
                              {1.064, "1.064 x X", 8, 0.0159},
                              {-0.5, "-0.5 x X", 8},
                              {0.0078, "0.0078 x X", 8}}) {
    CAPTURE(row.k);
    tests::PairBeyond pair({4, 6}, a, plus(a, row.k, x));
    pair.subject.noise = row.noise;
    const Tensor other = pair.hold({4, 6}, x);
    pair.subject.known = {{&other, "X"}};
    const auto found = known(pair.subject, pair.seen());
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == Code::residual_is);
    CHECK(tests::parameter_of<std::string>(found[0], "equals") == row.equals);
    CHECK(found[0].words == "candidate - reference is " + row.equals);
    CHECK(found[0].penalty == row.penalty);
    CHECK(found[0].hypothesis.residual < 1e-6);
  }
}

TEST_CASE("a multiple of a mask is a constant where it is not zero") {
  const auto a = tests::drawn(24, 1.1);
  std::vector<double> mask(24);
  for (std::size_t i = 3; i < 24; i += 2) mask[i] = 2;
  struct Masked {
    const char* what;
    double k, other;  ///< the last element of the mask
    Code code;
    std::string words;
    double middle = 2;  ///< one between
  };
  for (const Masked& row :
       {Masked{"of one number", 0.25, 2, Code::offset,
               "the candidate is the reference + 0.5 where X is not zero"},
        {"the logarithm of an axis", 0.34657359, 2, Code::offset,
         "the candidate is the reference + 0.693147 = ln(tp) where X is not zero"},
        {"of two", 0.25, 3, Code::residual_is, "candidate - reference is 0.25 x X"},
        {"of two, not at the end", 0.25, 2, Code::residual_is, "candidate - reference is 0.25 x X",
         3}}) {
    INFO(std::string(row.what));
    mask.back() = row.other;
    mask[11] = row.middle;
    tests::PairBeyond pair({4, 6}, a, plus(a, row.k, mask));
    pair.mesh.axes = {{"tp", 2}};
    const Tensor other = pair.hold({4, 6}, mask);
    pair.subject.known = {{&other, "X"}};
    const auto found = known(pair.subject, pair.seen());
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == row.code);
    CHECK(found[0].words == row.words);
    CHECK(found[0].penalty == 8);
    CHECK(found[0].hypothesis.residual < 1e-6);
    if (row.code != Code::offset) continue;
    CHECK(found[0].hypothesis.name == "offset");
    CHECK(tests::parameter_of<double>(found[0], "c") == doctest::Approx(2 * row.k));
  }
}

TEST_CASE("what fits, and what does not") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3), n = tests::drawn(24, 3.7);
  struct Case {
    const char* what;
    std::vector<double> reference, candidate, other;
    std::size_t found;
  };
  std::vector<double> lost = plus(a, 1, x), beyond = x, nowhere = a;
  lost[3] = nowhere[3] = nan;
  beyond[5] = std::numeric_limits<double>::infinity();
  const std::vector<double> zeros(24), ones(24, 1);
  std::vector<double> signs;  // as long as the ones and at right angles to them
  for (std::size_t i = 0; i < 24; ++i) signs.push_back(i % 2 == 0 ? 1 : -1);
  for (const Case& row : {Case{"exactly", a, plus(a, 1, x), x, 1},
                          {"a tensor of its own", a, plus(a, 1, x), n, 0},
                          // Off by X + e N, of which e / sqrt(1 + e^2) is left: a thirtieth
                          // where e^2 = 1 / 899, at 0.03335.
                          {"within a thirtieth", a, plus(plus(a, 1, ones), 0.0331, signs), ones, 1},
                          {"not so", a, plus(plus(a, 1, ones), 0.0336, signs), ones, 0},
                          {"zeros", a, plus(a, 1, x), zeros, 0},
                          {"a number was lost", a, lost, x, 0},
                          {"on both sides", nowhere, lost, x, 1},
                          {"in the other tensor alone", a, plus(a, 1, x), beyond, 1},
                          {"of small numbers", plus(zeros, 0.01, a),
                           plus(plus(zeros, 0.01, a), 0.01, x), plus(zeros, 0.01, x), 1},
                          {"to zeros", zeros, x, x, 0},
                          {"of three", {1, 2, 3}, {2, 4, 7}, {1, 2, 4}, 1},
                          {"of two", {1, 2}, {2, 4}, {1, 2}, 0}}) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::ssize(row.reference)}, row.reference, row.candidate);
    const Tensor other = pair.hold(pair.reference.shape, row.other);
    pair.subject.known = {{&other, "X"}};
    CHECK(known(pair.subject, pair.seen()).size() == row.found);
  }
}

TEST_CASE("zeros are no part of noise, and sums beyond the range of doubles tell nothing") {
  const auto a = tests::drawn(24, 1.1), n = tests::drawn(24, 3.7);
  tests::PairBeyond noisy({24}, a, plus(a, 0.01, n));
  noisy.subject.noise = 0.5;
  const Tensor zeros = noisy.hold({24}, std::vector<double>(24));
  noisy.subject.known = {{&zeros, "X"}};
  CHECK(known(noisy.subject, noisy.seen()).empty());
  tests::PairBeyond large({4}, {1e200, 1, 2, 3}, {1e200, 2, 1, 5}, 0, DType::f64, DType::f64);
  const Tensor other = large.hold({4}, {5, -6, 7, 8}, DType::f64);
  large.subject.known = {{&other, "X"}};
  CHECK(known(large.subject, large.seen()).empty());
}

TEST_CASE("of several the best of each kind") {
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3), n = tests::drawn(24, 3.7);
  tests::PairBeyond pair({4, 6}, a, plus(a, 1, x));
  pair.subject.noise = 1e-2;
  const Tensor near = pair.hold({4, 6}, plus(x, 0.01, n)), exact = pair.hold({4, 6}, x);
  const Tensor half = pair.hold({4, 6}, plus(std::vector<double>(24), 2, x));
  const Tensor whole = pair.hold({4, 6}, plus(a, 1, x));
  const auto best = [&](std::vector<Known> known_tensors) {
    pair.subject.known = std::move(known_tensors);
    return known(pair.subject, pair.seen());
  };
  CHECK(best({{&near, "near"}, {&exact, "exact"}})[0].words == "candidate - reference is exact");
  CHECK(best({{&exact, "exact"}, {&near, "near"}})[0].words == "candidate - reference is exact");
  CHECK(best({{&half, "half"}})[0].penalty == 8);
  const auto both = best({{&exact, "exact"}, {&whole, "whole"}});
  REQUIRE(both.size() == 2);
  CHECK(both[0].code == Code::name_mapping);
  CHECK(both[1].code == Code::residual_is);
}

TEST_CASE("a prefix that tells nothing is read on, one that does not fit is not") {
  constexpr std::size_t kCount = 6000;  // the prefix has 4,096
  const auto a = tests::drawn(kCount, 1.1), x = tests::drawn(kCount, 2.3),
             n = tests::drawn(kCount, 3.7);
  std::vector<double> late = a, other = x, mixed = plus(a, 1, x);
  for (std::size_t i = 5000; i < kCount; ++i) late[i] += x[i];
  for (std::size_t i = 0; i < 5000; ++i) {
    other[i] = 0;
    late[i] += 1e-7 * n[i];
  }
  struct Case {
    const char* what;
    std::vector<double> candidate, other;
    std::size_t found;
  };
  std::vector<double> wrong_end = plus(a, 1, x);
  for (std::size_t i = 5000; i < kCount; ++i) wrong_end[i] += n[i];
  for (const Case& row : {Case{"all of it", mixed, x, 1},
                          {"behind a prefix that is right", late, other, 1},
                          {"not behind the prefix", wrong_end, x, 0},
                          {"not in the prefix", mixed, n, 0}}) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({std::int64_t{kCount}}, a, row.candidate);
    const Tensor tensor = pair.hold(pair.reference.shape, row.other);
    pair.subject.known = {{&tensor, "X"}};
    CHECK(known(pair.subject, pair.seen()).size() == row.found);
  }
}

TEST_CASE("a prefix of zeros, as of padding, is read on") {
  constexpr std::size_t kCount = 6000;  // the prefix has 4,096
  auto a = tests::drawn(kCount, 1.1);
  for (std::size_t i = 0; i < 4096; ++i) a[i] = 0;
  for (const std::size_t zeros : {4096U, 0U}) {  // of the other tensor
    CAPTURE(zeros);
    auto x = tests::drawn(kCount, 2.3);
    for (std::size_t i = 0; i < zeros; ++i) x[i] = 0;
    for (const auto& [b, words] : {std::pair{x, "it is X, under another name"},
                                   {plus(a, 3, x), "candidate - reference is 3 x X"}}) {
      tests::PairBeyond pair({std::int64_t{kCount}}, a, b);
      const Tensor other = pair.hold(pair.reference.shape, x);
      pair.subject.known = {{&other, "X"}};
      const auto found = known(pair.subject, pair.seen());
      REQUIRE(found.size() == 1);
      CHECK(found[0].words == words);
    }
  }
}

TEST_CASE("holes of the pair are none of the tensor's") {
  const auto a = tests::drawn(24, 1.1), x = tests::drawn(24, 2.3);
  tests::PairBeyond pair({24}, a, plus(a, 1, x));
  auto other_values = x;
  other_values[5] = 100;
  const Tensor other = pair.hold({24}, other_values);
  pair.subject.known = {{&other, "X"}};
  CHECK(known(pair.subject, pair.seen()).empty());
  pair.candidate.holes = {{{5}, {1}}};
  pair.measure();
  CHECK(known(pair.subject, pair.seen()).size() == 1);
}

}  // namespace
}  // namespace ttcheck::explain
