// SPDX-License-Identifier: Apache-2.0
#include "core/explain/partial_sum.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/held_tensor.hpp"
#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

TEST_CASE("copies that differ along an axis add up to the reference, or their mean does") {
  struct Row {
    const char* what;
    std::vector<double> reference;
    std::vector<std::vector<float>> ranks;
    std::string axis, op;  ///< empty: no explanation
    double residual = 0;
  };
  // dp is slower: ranks 0 and 1 are dp 0.
  const Row rows[] = {
      {"the sum over tp", {4, 6}, {{1, 2}, {3, 4}, {1, 2}, {3, 4}}, "tp", "sum"},
      {"the sum over dp", {4, 6}, {{1, 2}, {1, 2}, {3, 4}, {3, 4}}, "dp", "sum"},
      {"the mean", {2, 3}, {{1, 2}, {3, 4}, {1, 2}, {3, 4}}, "tp", "mean"},
      {"neither: what leaves less",
       {4, 8},
       {{1, 2}, {3, 4}, {1, 2}, {3, 4}},
       "tp",
       "sum",
       2 / 8.94427190999916},
      {"copies that are alike", {4, 6}, {{2, 3}, {2, 3}, {2, 3}, {2, 3}}, "", ""},
      {"but for noise", {4, 6}, {{2, 3}, {2, 3.000001F}, {2, 3}, {2, 3}}, "", ""},
      {"the axis that leaves less", {5, 7}, {{1, 2}, {2, 3}, {4, 5}, {1, 4}}, "dp", "sum"},
      {"whichever it is", {3, 5}, {{1, 2}, {2, 3}, {4, 5}, {1, 4}}, "tp", "sum"},
      {"one rank", {4, 6}, {{1, 2}}, "", ""},
      {"too few ranks", {4, 6}, {{1, 2}, {3, 4}}, "tp", "sum"},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({2}, row.reference, {1, 2});
    tests::HeldTensor held({2}, row.ranks);
    held.tensor.undeclared = false;
    pair.subject.pair.candidate = &held.tensor;
    pair.mesh.axes = {{"dp", row.ranks.size() == 2 ? 1 : 2}, {"tp", 2}};
    pair.measure();
    const auto found = partial_sum(pair.subject);
    REQUIRE(found.has_value() == !row.op.empty());
    if (!found) continue;
    CHECK(found->code == Code::partial_sum);
    CHECK(tests::parameter_of<std::string>(*found, "axis") == row.axis);
    CHECK(tests::parameter_of<std::string>(*found, "op") == row.op);
    CHECK(found->hypothesis.residual == doctest::Approx(row.residual));
  }
}

TEST_CASE("integers have no addends, nor has what no mesh holds") {
  tests::PairBeyond pair({2}, {4, 6}, {1, 2});
  tests::HeldTensor held({2}, {{1, 2}, {3, 4}});
  held.tensor.undeclared = false;
  pair.subject.pair.candidate = &held.tensor;
  CHECK_FALSE(partial_sum(pair.subject));
  pair.mesh.axes = {{"tp", 2}};
  CHECK(partial_sum(pair.subject));
  // The same numbers as integers, and as doubles with a hole where the reference has none.
  const auto copies = [&](DType dtype) {
    Tensor tensor = pair.hold({2}, {1, 2}, dtype);
    tensor.pieces[0].rank = 0;
    tensor.replicas = pair.hold({2}, {3, 4}, dtype).pieces;
    tensor.replicas[0].rank = 1;
    return tensor;
  };
  Tensor tensor = copies(DType::i32);
  pair.subject.pair.candidate = &tensor;
  CHECK_FALSE(partial_sum(pair.subject));
  tensor = copies(DType::f64);
  REQUIRE(partial_sum(pair.subject));
  CHECK(partial_sum(pair.subject)->hypothesis.residual == 0);
  tensor.holes = {{{1}, {1}}};
  pair.reference = pair.hold({2}, {4, 100});
  REQUIRE(partial_sum(pair.subject));
  CHECK(partial_sum(pair.subject)->hypothesis.residual == 0);
}

}  // namespace
}  // namespace ttcheck::explain
