// SPDX-License-Identifier: Apache-2.0
#include "core/locate/gradient_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace ttcheck::locate {
namespace {

TensorResult gradient(const char* name, Phase phase, double a2, double b2) {
  TensorResult result;
  result.identity = {name, phase, 0, 0};
  result.kind = Kind::main_grad;
  result.shape = {4};
  result.metrics.count = 4;
  result.metrics.sum_a2 = a2;
  result.metrics.sum_b2 = b2;
  return result;
}

/// 3-4-5 on both sides.
std::vector<TensorResult> two_gradients() {
  return {gradient("a/main_grad.weight", Phase::sync, 9, 9),
          gradient("b/main_grad.weight", Phase::sync, 16, 16)};
}

TensorResult clipped() { return gradient("a/main_grad.weight", Phase::clip, 0.36, 0.36); }

TEST_CASE("the candidate's norm is held to its own gradients") {
  std::vector<TensorResult> results = two_gradients();
  CHECK(gradient_norm(results, {5, 5, {}})->error == 0);
  const auto small = gradient_norm(results, {5, 4.5, {}});
  REQUIRE(small);
  CHECK(small->actual == 5);
  CHECK(small->error == doctest::Approx(0.1));
  CHECK(small->limit == 4e-3);
  results[1].metrics.sum_b2 = 135;  // other gradients, and their norm
  CHECK(gradient_norm(results, {5, 12, {}})->error == 0);
}

TEST_CASE("a norm larger than its gradients is wrong only where these were not clipped in place") {
  std::vector<TensorResult> results = two_gradients();
  CHECK_FALSE(gradient_norm(results, {5, 6, {}}));
  results.push_back(clipped());
  CHECK(gradient_norm(results, {5, 6, {}})->error == doctest::Approx(0.2));
}

TEST_CASE("16-bit gradients may be rounded once for each tensor") {
  std::vector<TensorResult> results = two_gradients();
  results[0].candidate_dtype = DType::bf16;
  CHECK(gradient_norm(results, {5, 5, {}})->limit == 8 * epsilon(DType::bf16));
}

TEST_CASE("norms below one are told like others") {
  std::vector<TensorResult> results = {gradient("a/main_grad.weight", Phase::sync, 0.09, 0.09),
                                       gradient("b/main_grad.weight", Phase::sync, 0.16, 0.16)};
  const auto norm = gradient_norm(results, {0.5, 0.25, {}});
  REQUIRE(norm);
  CHECK(norm->actual == doctest::Approx(0.5));
  CHECK(norm->error == doctest::Approx(0.5));
}

TEST_CASE("where the reference's norm is another one, nothing is told") {
  std::vector<TensorResult> results = two_gradients();
  results[1].metrics.sum_a2 = INFINITY;
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  results = two_gradients();
  CHECK_FALSE(gradient_norm(results, {7, 7, {}}));  // of order 1
  results[1].test = Test::replica;
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  results[1].test = Test::none;
  results[1].metrics.count = 0;  // statistics alone
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  results[1].metrics.count = 4;
  results[1].metrics.sum_b2 = INFINITY;
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  CHECK_FALSE(gradient_norm({}, {5, 4, {}}));
  CHECK_FALSE(gradient_norm(two_gradients(), {NAN, 4, {}}));
}

TEST_CASE("the reference's norm may be 2 eps off, and a thousandth") {
  std::vector<TensorResult> results = two_gradients();
  CHECK(gradient_norm(results, {5 * 1.0009, 5, {}}));
  CHECK_FALSE(gradient_norm(results, {5 * 1.0011, 5, {}}));
  CHECK(gradient_norm(results, {5 * 0.9991, 5, {}}));
  CHECK_FALSE(gradient_norm(results, {5 * 0.9989, 5, {}}));
  for (const bool of_reference : {true, false}) {
    (of_reference ? results[1].dtype : results[1].candidate_dtype) = DType::bf16;
    CHECK(gradient_norm(results, {5 * (1 + 1.9 * 0x1p-7), 5, {}}));
    CHECK_FALSE(gradient_norm(results, {5 * (1 + 2.1 * 0x1p-7), 5, {}}));
    results = two_gradients();
  }
}

TEST_CASE("gradients are those of sync, and empty ones have no part in it") {
  std::vector<TensorResult> results = two_gradients();
  results.push_back(gradient("c/main_grad.weight", Phase::backward, 100, 100));
  results.push_back(gradient("d/grad.weight", Phase::sync, 100, 100));
  results.back().kind = Kind::grad;
  results.push_back(gradient("e/main_grad.weight", Phase::sync, 0, 0));
  results.back().shape = {0};
  results.back().metrics.count = 0;
  CHECK(gradient_norm(results, {5, 5, {}})->actual == 5);
  results.push_back(gradient("f/state.step", Phase::clip, 1, 1));
  results.back().kind = Kind::other;
  CHECK_FALSE(gradient_norm(results, {5, 6, {}}));  // no gradients of clip
  results.push_back(clipped());
  CHECK(gradient_norm(results, {5, 6, {}}));
  for (TensorResult& one : results) one.metrics.sum_b2 = 0;
  CHECK_FALSE(gradient_norm(results, {5, 5, {}}));
  for (TensorResult& one : results) one.metrics.sum_a2 = 0;
  CHECK_FALSE(gradient_norm(results, {0, 5, {}}));
}

TEST_CASE("a logged norm is the one number of that name in clip") {
  std::vector<TensorResult> results = two_gradients();
  CHECK_FALSE(logged_norm(results));
  results.push_back(gradient("clip/state.grad_norm", Phase::clip, 25, 36));
  CHECK_FALSE(logged_norm(results));  // four numbers
  results.back().metrics.count = 1;
  const auto logged = logged_norm(results);
  REQUIRE(logged);
  CHECK(logged->reference == 5);
  CHECK(logged->candidate == 6);
  CHECK(logged->record == 2);
  struct Row {
    const char* name;
    Phase phase;
    bool logged;
  };
  for (const Row& row : {Row{"grad_norm", Phase::clip, true},
                         {"clip/grad_norm", Phase::clip, true},
                         {"clip/state.grad_norms", Phase::clip, false},
                         {"clip/state.max_grad_norm", Phase::clip, false},
                         {"clip/state.grad_norm", Phase::optimizer, false}}) {
    INFO(std::string(row.name));
    results.back().identity = {row.name, row.phase, 0, 0};
    CHECK(logged_norm(results).has_value() == row.logged);
  }
}

}  // namespace
}  // namespace ttcheck::locate
