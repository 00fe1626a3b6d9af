#include "core/locate/degenerate.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace ttcheck::locate {
namespace {

TensorResult output(const std::string& name, double a2, double b2) {
  TensorResult made;
  made.identity = {name, Phase::forward, 0, 0};
  made.kind = Kind::output;
  made.metrics.count = 64;
  made.metrics.sum_a2 = a2;
  made.metrics.sum_b2 = b2;
  return made;
}

/// Six layers of two ops, whose norms may repeat on the candidate.
std::vector<TensorResult> layers(bool first_repeats, bool second_repeats) {
  std::vector<TensorResult> made;
  for (int i = 0; i < 6; ++i) {
    const double own = 3.5 + i;
    made.push_back(output(fmt::format("layers.{}.attn/output.0", i), own, first_repeats ? 2 : own));
    made.push_back(output(fmt::format("layers.{}.mlp/output.0", i), own, second_repeats ? 4 : own));
  }
  return made;
}

TEST_CASE("every layer's output the same is a degenerate dump") {
  const auto found = degenerate_dump(layers(true, true));
  REQUIRE(found);
  CHECK(found->code == Code::degenerate);
  CHECK(found->reason == "the candidate is a degenerate dump");
  CHECK(found->message == "12 outputs of its layers hold the same content");
  CHECK(found->record == 0);
}

TEST_CASE("layers of their own are not, nor is one op that repeats among others") {
  CHECK_FALSE(degenerate_dump(layers(false, false)));
  CHECK_FALSE(degenerate_dump(layers(true, false)));
}

TEST_CASE("zeros of one side, of some modules, and what is not finite, tell nothing") {
  std::vector<TensorResult> results = layers(true, true);
  for (TensorResult& one : results) one.metrics.sum_b2 = 0;
  CHECK_FALSE(degenerate_dump(results));
  results = layers(false, false);
  for (std::size_t i = 0; i < results.size(); i += 2) {
    results[i].metrics.sum_a2 = results[i].metrics.sum_b2 = 0;
  }
  CHECK_FALSE(degenerate_dump(results));
  results = layers(true, true);
  for (TensorResult& one : results) one.metrics.taken_out = 1;
  CHECK_FALSE(degenerate_dump(results));
}

TEST_CASE("nothing but zeros on both sides is a degenerate dump") {
  std::vector<TensorResult> results = layers(true, true);
  for (TensorResult& one : results) one.metrics.sum_a2 = one.metrics.sum_b2 = 0;
  const auto found = degenerate_dump(results);
  REQUIRE(found);
  CHECK(found->message == "12 outputs of its layers hold nothing but zeros");
}

TEST_CASE("micro-batches of one layer may repeat") {
  std::vector<TensorResult> results;
  for (int i = 0; i < 6; ++i) {
    results.push_back(output("layers.0.mlp/output.0", 2, 2));
    results.back().identity.microbatch = i;
  }
  CHECK_FALSE(degenerate_dump(results));
}

}  // namespace
}  // namespace ttcheck::locate
