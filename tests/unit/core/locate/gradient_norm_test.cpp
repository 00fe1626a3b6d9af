#include "core/locate/gradient_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
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

TEST_CASE("where the reference's norm is another one, nothing is told") {
  std::vector<TensorResult> results = two_gradients();
  CHECK_FALSE(gradient_norm(results, {7, 7, {}}));  // of order 1
  results[1].test = "replica";
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  results[1].test = "";
  results[1].metrics.count = 0;  // statistics alone
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  results[1].metrics.count = 4;
  results[1].metrics.sum_b2 = INFINITY;
  CHECK_FALSE(gradient_norm(results, {5, 4, {}}));
  CHECK_FALSE(gradient_norm({}, {5, 4, {}}));
  CHECK_FALSE(gradient_norm(two_gradients(), {NAN, 4, {}}));
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
}

}  // namespace
}  // namespace ttcheck::locate
