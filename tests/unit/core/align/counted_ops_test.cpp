// SPDX-License-Identifier: Apache-2.0
#include "core/align/counted_ops.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/align/align.hpp"
#include "core/align/meeting.hpp"

namespace ttcheck::align {
namespace {

/// A trace of ops with one output each; calls are counted by base, as msprobe does.
class Ops {
 public:
  Ops& op(const std::string& base, Shape shape = {4}, const std::string& within = "") {
    record(base, calls_[base]++, "output.0", std::move(shape), within);
    return *this;
  }

  Ops& record(const std::string& base, int call, const std::string& slot, Shape shape,
              const std::string& within = "") {
    Tensor& tensor = tensors.emplace_back();
    tensor.identity.name = base + "." + std::to_string(call) + "/" + slot;
    tensor.identity.phase = Phase::forward;
    tensor.kind = Kind::output;
    tensor.shape = std::move(shape);
    auto trace = std::make_shared<TraceRecord>();
    trace->seq = std::ssize(tensors);
    trace->counted = {base, within};
    tensor.trace = trace;
    return *this;
  }

  std::vector<Tensor> tensors;

 private:
  std::map<std::string, int> calls_;
};

std::vector<std::string> pairs_of(const Ops& a, Ops b) {
  const Alignment made = align(a.tensors, b.tensors, {});
  std::vector<std::string> text;
  for (const PairIndex& pair : made.pairs) {
    text.push_back(a.tensors[pair.reference].identity.name + " " +
                   b.tensors[pair.candidate].identity.name);
  }
  return text;
}

TEST_CASE("one more call moves the numbers of those behind it, not the pairs") {
  const Ops a = Ops().op("add").op("mul").op("add").op("exp").op("add");
  const Ops b = Ops().op("add").op("mul").op("add").op("exp").op("add", {9}).op("add");
  CHECK(pairs_of(a, b) ==
        std::vector<std::string>{"add.0/output.0 add.0/output.0", "mul.0/output.0 mul.0/output.0",
                                 "add.1/output.0 add.1/output.0", "exp.0/output.0 exp.0/output.0",
                                 "add.2/output.0 add.3/output.0"});
}

TEST_CASE("the module that ran an op tells equal ones apart") {
  const Ops a = Ops().op("add", {4}, "m.0").op("add", {4}, "m.1");
  const Ops b = Ops().op("add", {4}, "m.0").op("add", {4}, "m.0").op("add", {4}, "m.1");
  CHECK(pairs_of(a, b).back() == "add.1/output.0 add.2/output.0");
}

TEST_CASE("between ops that meet, one of another shape still pairs with its own kind") {
  const Ops a = Ops().op("mul").op("add", {4}).op("exp");
  const Ops b = Ops().op("mul").op("log").op("add", {5}).op("exp");
  CHECK(pairs_of(a, b) == std::vector<std::string>{"mul.0/output.0 mul.0/output.0",
                                                   "add.0/output.0 add.0/output.0",
                                                   "exp.0/output.0 exp.0/output.0"});
}

TEST_CASE(
    "ops of one name that hold other things are two where one side has more, or moves values") {
  const Ops a = Ops().op("mul").op("matmul", {2, 2}).op("matmul", {2, 4}).op("exp");
  const Ops b = Ops().op("mul").op("attention", {2, 4}).op("matmul", {9, 9}).op("exp");
  const std::vector<std::string> ends = {"mul.0/output.0 mul.0/output.0",
                                         "exp.0/output.0 exp.0/output.0"};
  CHECK(pairs_of(a, b) == ends);
  Ops left = Ops().op("mul").op("view", {2, 2}).op("exp");
  Ops right = Ops().op("mul").op("view", {4}).op("exp");
  CHECK(pairs_of(left, right).size() == 3);
  for (Ops* side : {&left, &right}) {
    auto moving = std::make_shared<TraceRecord>(*side->tensors[1].trace);
    moving->counted.moves = true;
    side->tensors[1].trace = moving;
  }
  CHECK(pairs_of(left, right) == ends);
}

TEST_CASE("ops that are two are left over once, though no op meets another") {
  const Ops a = Ops().op("matmul", {2, 2});
  Ops b = Ops().op("matmul", {9, 9}).op("matmul", {8, 8});
  const Alignment done = align(a.tensors, b.tensors, {});
  CHECK(done.pairs.empty());
  CHECK(done.only_reference == std::vector<std::size_t>{0});
  CHECK(done.only_candidate.size() == 2);
}

TEST_CASE("what an op of one side lacks does not meet another op's") {
  Ops a, b;
  a.record("add", 0, "output.0", {4}).record("mul", 0, "output.0", {4});
  a.record("add", 1, "output.0", {4}).record("add", 1, "output.1", {4});
  b.record("log", 0, "output.0", {4}).record("add", 0, "output.0", {4});
  b.record("mul", 0, "output.0", {4}).record("add", 1, "output.0", {4});
  const Alignment made = align(a.tensors, b.tensors, {});
  CHECK(made.pairs.size() == 3);
  REQUIRE(made.only_reference.size() == 1);
  CHECK(a.tensors[made.only_reference[0]].identity.name == "add.1/output.1");
  CHECK(made.only_candidate == std::vector<std::size_t>{0});
}

TEST_CASE("records that one side's op has alone are told apart, of either side") {
  Ops less, more;
  less.record("mul", 0, "output.0", {4}).record("add", 0, "output.0", {4});
  more.record("mul", 0, "output.0", {4}).record("add", 0, "output.0", {4});
  more.record("add", 0, "output.1", {4});
  const std::vector<std::size_t> two = {0, 1}, three = {0, 1, 2};
  const CountedPairs left = pair_counted_ops(more.tensors, three, less.tensors, two);
  CHECK(left.pairs.size() == 2);
  CHECK(left.only_reference == std::vector<std::size_t>{2});
  CHECK(left.only_candidate.empty());
  const CountedPairs right = pair_counted_ops(less.tensors, two, more.tensors, three);
  CHECK(right.pairs.size() == 2);
  CHECK(right.only_reference.empty());
  CHECK(right.only_candidate == std::vector<std::size_t>{2});
  CHECK(align(less.tensors, more.tensors, {}).only_candidate == std::vector<std::size_t>{2});
}

TEST_CASE("ops fused into one are between ops that meet; a lost end is not") {
  const Ops a = Ops().op("mul").op("silu").op("chunk").op("exp").op("log");
  Ops b = Ops().op("mul").op("swiglu").op("exp");
  const Alignment made = align(a.tensors, b.tensors, {});
  std::vector<std::size_t> met;
  for (const PairIndex& pair : made.pairs) met.push_back(pair.reference);
  REQUIRE(made.only_reference == std::vector<std::size_t>{1, 2, 4});
  CHECK(neighbours_meet(a.tensors, met, made.only_reference) ==
        std::vector<bool>{true, true, false});
}

/// The largest sum that pairs in order can have: one for each, and one more for equal names.
int best_sum(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  std::vector<std::vector<int>> best(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      best[i][j] = std::max(best[i - 1][j], best[i][j - 1]);
      if (a[i - 1].trace->counted.base != b[j - 1].trace->counted.base) continue;
      const int both = a[i - 1].identity.name == b[j - 1].identity.name ? 2 : 1;
      best[i][j] = std::max(best[i][j], best[i - 1][j - 1] + both);
    }
  }
  return best[a.size()][b.size()];
}

TEST_CASE("ops of other modules are paired in order so that most of them meet, and by name") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Ops a, b;
    for (std::size_t n = random() % 9; n > 0; --n) a.op(random() % 2 == 0 ? "x" : "y", {4}, "m");
    for (std::size_t n = random() % 9; n > 0; --n) b.op(random() % 2 == 0 ? "x" : "y", {4}, "n");
    std::vector<std::size_t> all_a(a.tensors.size()), all_b(b.tensors.size());
    std::iota(all_a.begin(), all_a.end(), std::size_t{0});
    std::iota(all_b.begin(), all_b.end(), std::size_t{0});
    int sum = 0;
    std::vector<std::size_t> left, right;
    for (const PairIndex& pair : pair_counted_ops(a.tensors, all_a, b.tensors, all_b).pairs) {
      sum += pair.rule == "same" ? 2 : 1;
      left.push_back(pair.reference);
      right.push_back(pair.candidate);
    }
    CHECK(sum == best_sum(a.tensors, b.tensors));
    CHECK(std::ranges::is_sorted(left));
    CHECK(std::ranges::is_sorted(right));
  }
}

TEST_CASE("stretches of a million pairs of ops are looked at, longer ones left alone") {
  const auto paired = [](int left, int right) {
    Ops a, b;
    for (int i = 0; i < left; ++i) a.op("add", {4}, "here");
    for (int i = 0; i < right; ++i) b.op("add", {4}, "there");
    std::vector<std::size_t> all_a(a.tensors.size()), all_b(b.tensors.size());
    std::iota(all_a.begin(), all_a.end(), std::size_t{0});
    std::iota(all_b.begin(), all_b.end(), std::size_t{0});
    return pair_counted_ops(a.tensors, all_a, b.tensors, all_b).pairs.size();
  };
  CHECK(paired(100, 10'000) == 100);
  CHECK(paired(101, 9'901) == 0);  // 1,000,001
}

TEST_CASE("a long trace against one with other ops throughout") {
  Ops a, b;
  for (int i = 0; i < 313; ++i) a.op(i % 7 == 0 ? "mm" : i % 3 == 0 ? "add" : "view");
  for (int i = 0; i < 247; ++i) b.op(i % 7 == 0 ? "mm" : i % 4 == 0 ? "add" : "copy");
  const Alignment made = align(a.tensors, b.tensors, {});
  CHECK(made.pairs.size() >= 60);
  CHECK(made.pairs.size() + made.only_reference.size() == a.tensors.size());
  CHECK(made.pairs.size() + made.only_candidate.size() == b.tensors.size());
}

}  // namespace
}  // namespace ttcheck::align
