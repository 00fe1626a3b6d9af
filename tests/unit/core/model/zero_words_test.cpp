// SPDX-License-Identifier: Apache-2.0
#include "core/model/zero_words.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TensorResult result(Test test, double a2, double b2, std::int64_t taken_out = 0) {
  TensorResult made;
  made.test = test;
  made.metrics.count = 8;
  made.metrics.unequal_values = 6;
  made.metrics.sum_a2 = a2;
  made.metrics.sum_b2 = b2;
  made.metrics.taken_out = taken_out;
  return made;
}

TEST_CASE("a side that is all zeros where the other is not") {
  for (const Test test : {Test::rel, Test::moved, Test::exact, Test::elementwise, Test::row}) {
    CHECK(zero_words(result(test, 0, 3)) ==
          "the reference is all zeros, where 6 of 8 elements of the candidate are not");
    CHECK(zero_words(result(test, 3, 0)) ==
          "the candidate is all zeros, where 6 of 8 elements of the reference are not");
  }
}

TEST_CASE("nothing where both or neither are, where not all is finite, or values did not decide") {
  CHECK(zero_words(result(Test::rel, 0, 0)).empty());
  CHECK(zero_words(result(Test::rel, 1, 2)).empty());
  CHECK(zero_words(result(Test::rel, 3, 0, 1)).empty());
  CHECK(zero_words(result(Test::recomputed, 3, 0)).empty());
  CHECK(zero_words(result(Test::statistics, 0, 3)).empty());
}

}  // namespace
}  // namespace ttcheck
