// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/tally.hpp"

#include <doctest/doctest.h>

namespace ttcheck::verdict {
namespace {

TensorResult result(Outcome outcome, std::string cast, std::int64_t step) {
  TensorResult made;
  made.by_limit = outcome;
  made.cast = std::move(cast);
  made.step = step;
  made.limit.source = outcome == Outcome::equal ? "copy" : "model";
  return made;
}

TEST_CASE("every result is counted once; an equal one is kept only on request") {
  for (const bool keep : {false, true}) {
    Verdict verdict;
    add_result(result(Outcome::equal, "", 1), keep, verdict);
    add_result(result(Outcome::equal, "widening f32", 1), keep, verdict);
    add_result(result(Outcome::noise, "", 2), keep, verdict);
    add_result(result(Outcome::diverged, "", 2), keep, verdict);
    CHECK(verdict.tensors.size() == (keep ? 4 : 2));
    CHECK(verdict.tally.of(Outcome::noise) == 0);  // something may change it yet
    count_kept(verdict.tensors, verdict.tally);
    CHECK(verdict.tally.of(Outcome::equal) == 2);
    CHECK(verdict.tally.of(Outcome::noise) == 1);
    CHECK(verdict.tally.of(Outcome::diverged) == 1);
    CHECK(verdict.tally.of(Outcome::not_comparable) == 0);
    CHECK(verdict.tally.casts == std::map<std::string, std::int64_t>{{"widening f32", 1}});
    CHECK(verdict.tally.limits == std::map<std::string, std::int64_t>{{"copy", 2}, {"model", 2}});
    CHECK(verdict.tally.rules == std::map<std::string, std::int64_t>{{"same", 4}});
    CHECK(verdict.tally.steps == std::set<std::int64_t>{1, 2});
  }
}

TEST_CASE("tallies of parts add up to that of the whole") {
  Tally whole;
  Tally left;
  Tally right;
  for (int i = 0; i < 6; ++i) {
    const TensorResult one =
        result(i % 2 == 0 ? Outcome::equal : Outcome::noise, i == 4 ? "rounding bf16" : "", i / 3);
    count_kept(std::span(&one, 1), whole);
    count_kept(std::span(&one, 1), i < 2 ? left : right);
  }
  count_equal("", "copy", "map x", 7, whole);
  count_equal("", "copy", "map x", 7, right);
  Tally sum;
  add_tally(left, sum);
  add_tally(right, sum);
  CHECK(sum.outcomes == whole.outcomes);
  CHECK(sum.casts == whole.casts);
  CHECK(sum.limits == whole.limits);
  CHECK(sum.rules == whole.rules);
  CHECK(sum.steps == whole.steps);
  CHECK(sum.of(Outcome::equal) == 4);
  CHECK(sum.rules.at("map x") == 1);
}

}  // namespace
}  // namespace ttcheck::verdict
