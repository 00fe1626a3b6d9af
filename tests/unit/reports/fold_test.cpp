// SPDX-License-Identifier: Apache-2.0
#include "reports/fold.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

std::vector<TensorResult> results_of(const std::vector<std::string>& names) {
  std::vector<TensorResult> results;
  for (const std::string& name : names) results.emplace_back().identity.name = name;
  return results;
}

std::vector<Group> folded_of(const std::vector<TensorResult>& results) {
  std::vector<const TensorResult*> list;
  for (const TensorResult& result : results) list.push_back(&result);
  return fold(list);
}

TEST_CASE("names that differ in numbers alone are one row") {
  struct Row {
    std::string what;
    std::vector<std::string> names, groups;
  };
  const std::vector<Row> rows = {
      {"none", {}, {}},
      {"one", {"layers.3.w"}, {"layers.3.w"}},
      {"layers", {"l.0.w", "l.2.w", "l.1.w", "l.7.w"}, {"l.{0-2,7}.w"}},
      {"the same twice", {"l.3.w", "l.3.w"}, {"l.3.w"}},
      {"two of them", {"l.0.e.4.w", "l.1.e.4.w"}, {"l.{0,1}.e.4.w"}},
      {"two that vary", {"l.0.e.4.w", "l.1.e.5.w"}, {"l.{0,1}.e.{4,5}.w"}},
      {"two names", {"l.0.w", "l.0.b", "l.1.w"}, {"l.{0,1}.w", "l.0.b"}},
      {"in front and at the end", {"0.w.1", "2.w.1"}, {"{0,2}.w.1"}},
      {"a number alone", {"3", "4"}, {"{3,4}"}},
      {"between slashes", {"l/3/w", "l/4/w"}, {"l/{3,4}/w"}},
      {"other ends", {"l.3/w", "l.4.w"}, {"l.3/w", "l.4.w"}},
      {"with letters", {"l3.w", "l4.w"}, {"l3.w", "l4.w"}},
      {"before letters", {"3l.w", "4l.w"}, {"3l.w", "4l.w"}},
      {"behind another sign", {"a-3.w", "a-4.w"}, {"a-3.w", "a-4.w"}},
      {"a zero in front", {"l.03.w", "l.04.w"}, {"l.03.w", "l.04.w"}},
      {"zeros", {"l.0.w", "l.00.w"}, {"l.0.w", "l.00.w"}},
      {"eighteen digits",
       {"l.100000000000000000.w", "l.100000000000000001.w"},
       {"l.{100000000000000000,100000000000000001}.w"}},
      {"nineteen digits",
       {"l.1000000000000000000.w", "l.1000000000000000001.w"},
       {"l.1000000000000000000.w", "l.1000000000000000001.w"}},
      {"what a terminal must not get", {"\x1b.0.w\n", "\x1b.1.w\n"}, {"\\x1b.{0,1}.w\\n"}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const std::vector<TensorResult> results = results_of(row.names);
    std::vector<std::string> groups;
    for (const Group& group : folded_of(results)) groups.push_back(name_of(group));
    CHECK(groups == row.groups);
  }
}

TEST_CASE("what else must agree") {
  struct Row {
    std::string what;
    std::function<void(TensorResult&)> change;
    std::size_t groups;
  };
  const std::vector<Row> rows = {
      {"nothing", [](TensorResult&) {}, 1},
      {"outcome", [](TensorResult& one) { one.by_limit = Outcome::noise; }, 2},
      {"kind", [](TensorResult& one) { one.kind = Kind::grad; }, 2},
      {"dtype", [](TensorResult& one) { one.dtype = DType::bf16; }, 2},
      {"the candidate's dtype", [](TensorResult& one) { one.candidate_dtype = DType::bf16; }, 2},
      {"phase", [](TensorResult& one) { one.identity.phase = Phase::loss; }, 2},
      {"step", [](TensorResult& one) { one.step = 3; }, 1},
      {"micro-batch", [](TensorResult& one) { one.identity.microbatch = 3; }, 1},
      {"shape", [](TensorResult& one) { one.shape = {3}; }, 1},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<TensorResult> results = results_of({"l.0.w", "l.1.w"});
    row.change(results[1]);
    CHECK(folded_of(results).size() == row.groups);
  }
}

TEST_CASE("a group knows its worst, its steps and its ranks") {
  std::vector<TensorResult> results = results_of({"l.0.w", "l.1.w", "l.2.w", "l.3.w"});
  const double ratios[] = {1, 3, 3, 2};
  for (std::size_t i = 0; i < 4; ++i) results[i].ratio = ratios[i];
  results[0].step = 7;
  results[2].step = 5;
  results[3].step = 7;
  results[0].wrong_ranks = {4, 1};
  results[3].wrong_ranks = {2, 4};
  for (TensorResult& result : results) result.identity.phase = Phase::backward;
  const std::vector<Group> groups = folded_of(results);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].worst == &results[1]);
  CHECK(groups[0].results.size() == 4);
  CHECK(groups[0].results[3] == &results[3]);
  CHECK(name_of(groups[0]) == "backward l.{0-3}.w");
  CHECK(steps_of(groups[0]) == std::vector<std::int64_t>{5, 7});
  CHECK(wrong_ranks_of(groups[0]) == std::vector<std::int32_t>{1, 2, 4});
}

}  // namespace
}  // namespace ttcheck::reports
