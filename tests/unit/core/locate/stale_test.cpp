// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/locate/stale.hpp"

namespace ttcheck::locate {
namespace {

TensorResult result_of(std::int64_t step, double a2, double b2) {
  TensorResult result;
  result.step = step;
  result.identity = {"m/output.0", Phase::forward, 0, 0};
  result.metrics.count = 64;
  result.metrics.sum_a2 = a2;
  result.metrics.sum_b2 = b2;
  return result;
}

TEST_CASE("what an earlier step held is stale where the reference has moved on") {
  const std::vector<TensorResult> earlier = {result_of(1, 3, 3), result_of(2, 5, 5),
                                             result_of(3, 7, 7)};
  CHECK(stale_since(result_of(4, 9, 7), earlier) == 3);
  CHECK(stale_since(result_of(4, 9, 3), earlier) == 1);
  CHECK_FALSE(stale_since(result_of(4, 9, 9.5), earlier));
  CHECK_FALSE(stale_since(result_of(4, 7, 7), earlier));  // neither side moved
  CHECK_FALSE(stale_since(result_of(3, 9, 7), earlier));
  TensorResult other = result_of(4, 9, 7);
  other.identity.microbatch = 1;
  CHECK_FALSE(stale_since(other, earlier));
}

TEST_CASE("of few, whole, lost or no values it is not told") {
  const std::vector<TensorResult> earlier = {result_of(1, 3, 3)};
  TensorResult few = result_of(2, 9, 3), whole = few, lost = few;
  few.metrics.count = 7;
  whole.candidate_dtype = DType::i64;
  lost.metrics.candidate.nan = 1;
  for (const TensorResult& one : {few, whole, lost}) CHECK_FALSE(stale_since(one, earlier));
  few.metrics.count = 8;
  std::vector<TensorResult> as_few = earlier;
  as_few[0].metrics.count = 8;
  CHECK(stale_since(few, as_few) == 1);
  CHECK_FALSE(stale_since(few, earlier));  // of another size
  TensorResult narrow = result_of(2, 9, 3);
  narrow.candidate_dtype = DType::bf16;
  CHECK_FALSE(stale_since(narrow, earlier));
  const std::vector<TensorResult> zeros = {result_of(1, 3, 0)};
  CHECK_FALSE(stale_since(result_of(2, 9, 0), zeros));
}

TEST_CASE("a parameter that only the reference's update moved is told, whatever its limit") {
  const TensorResult before = result_of(1, 3, 3);
  TensorResult after = result_of(1, 5, 3);
  after.metrics.unequal_values = 32;  // of 64
  CHECK(unmoved(before, after));
  TensorResult few = after, moved = after, frozen = after;
  few.metrics.unequal_values = 31;
  moved.metrics.sum_b2 = 3.5;
  frozen.metrics.sum_a2 = 3;
  for (const TensorResult& one : {few, moved, frozen}) CHECK_FALSE(unmoved(before, one));
  TensorResult apart = before;  // before the update already
  apart.metrics.unequal_values = 1;
  CHECK_FALSE(unmoved(apart, after));
}

}  // namespace
}  // namespace ttcheck::locate
