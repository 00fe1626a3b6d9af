// SPDX-License-Identifier: Apache-2.0
#include "core/model/verdict.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace ttcheck {
namespace {

TEST_CASE("what a result is follows from its limit, chance, and what is wrong by itself") {
  TensorResult result;
  CHECK(result.outcome() == Outcome::equal);
  result.by_limit = Outcome::diverged;
  result.test = Test::rel;
  CHECK(result.outcome() == Outcome::diverged);
  result.allowance = Allowance{"terms", 1};
  CHECK(result.outcome() == Outcome::noise);
  result.by_limit = Outcome::noise;
  for (const Test test :
       {Test::replica, Test::grid, Test::recomputed, Test::unmoved, Test::lean, Test::own}) {
    result.test = test;
    CHECK(result.outcome() == Outcome::diverged);  // whatever chance may do
  }
}

}  // namespace
}  // namespace ttcheck
