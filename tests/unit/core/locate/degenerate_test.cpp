// SPDX-License-Identifier: Apache-2.0
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

/// Two ops of `count` layers, each of which repeats one content.
std::vector<TensorResult> repeating(int count, const std::string& op, const std::string& other) {
  std::vector<TensorResult> made;
  for (int i = 0; i < count; ++i) {
    made.push_back(output(fmt::format(fmt::runtime(op), i), 1.5 + i, 3));
    made.push_back(output(fmt::format(fmt::runtime(other), i), 1.5 + i, 5));
  }
  return made;
}

TEST_CASE("groups are outputs whose names differ only in numbers") {
  CHECK(degenerate_dump(repeating(4, "layers.{}.attn/output.0", "layers.{}.mlp/output.0")));
  CHECK(degenerate_dump(repeating(4, "layers.{}.a.b/output.0", "layers.{}.ab/output.0")));
  CHECK(degenerate_dump(repeating(4, "layers.{}.mlp/output.0", "layers.{}.mlp/output.1")));
  CHECK(degenerate_dump(repeating(4, "a.{}/output.0", "b.{}/output.0")));
  CHECK(degenerate_dump(repeating(4, "a.{}", "b.{}")));
  std::vector<TensorResult> digits;
  for (const char* layer : {"9", "10"}) {
    digits.push_back(output(fmt::format("layers.{}.attn/output.0", layer), 1.5, 3));
    digits.push_back(output(fmt::format("layers.{}.mlp/output.0", layer), 2.5, 5));
  }
  CHECK(degenerate_dump(digits));  // numbers of one digit and of two
  CHECK(degenerate_dump(repeating(2, "layers.{}.attn/output.0", "layers.{}.mlp/output.0")));
  // Of one group, with two contents.
  CHECK_FALSE(
      degenerate_dump(repeating(4, "layers.{}.0.mlp/output.0", "layers.{}.1.mlp/output.0")));
  // A number is a part of a name by itself; so each of these is alone.
  CHECK_FALSE(degenerate_dump(repeating(4, "layer{}.mlp/output.0", "layer{}.attn/output.0")));
}

TEST_CASE("which records count, and how many there must be") {
  struct Row {
    const char* what;
    void (*change)(TensorResult&);
    bool degenerate;
  };
  const Row rows[] = {
      {"as they are", [](TensorResult&) {}, true},
      {"what went in", [](TensorResult& one) { one.kind = Kind::input; }, false},
      {"gradients", [](TensorResult& one) { one.identity.phase = Phase::backward; }, false},
      {"eight elements", [](TensorResult& one) { one.metrics.count = 8; }, true},
      {"seven", [](TensorResult& one) { one.metrics.count = 7; }, false},
      {"whole numbers", [](TensorResult& one) { one.dtype = DType::i64; }, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    std::vector<TensorResult> results = layers(true, true);
    for (TensorResult& one : results) row.change(one);
    CHECK(degenerate_dump(results).has_value() == row.degenerate);
  }
  const auto some = [](int count) {
    std::vector<TensorResult> made;
    for (int i = 0; i < count; ++i) made.push_back(output(fmt::format("{}/output.0", i), 1 + i, 3));
    return made;
  };
  CHECK_FALSE(degenerate_dump(some(3)));
  CHECK(degenerate_dump(some(4)));
}

TEST_CASE("what repeats may be the reference's, and begin anywhere") {
  std::vector<TensorResult> results = layers(true, true);
  for (TensorResult& one : results) std::swap(one.metrics.sum_a2, one.metrics.sum_b2);
  results.insert(results.begin(), output("embedding/output.0", 2, 3));
  const auto found = degenerate_dump(results);
  REQUIRE(found);
  CHECK(found->reason == "the reference is a degenerate dump");
  CHECK(found->message == "12 outputs of its layers hold the same content");
  CHECK(found->record == 1);
}

TEST_CASE("calls of one layer may repeat") {
  std::vector<TensorResult> results;
  for (int i = 0; i < 6; ++i) {
    results.push_back(output("layers.0.mlp/output.0", 2, 2));
    results.back().identity.call = i;
  }
  CHECK_FALSE(degenerate_dump(results));
}

TEST_CASE("most groups are more than half, and those of one record are none") {
  // Three of four ops repeat; and two.
  std::vector<TensorResult> results = layers(true, false);
  for (int i = 0; i < 6; ++i) {
    results.push_back(output(fmt::format("layers.{}.norm/output.0", i), 9 + i, 7));
    results.push_back(output(fmt::format("layers.{}.rope/output.0", i), 9 + i, 8));
  }
  CHECK(degenerate_dump(results));
  for (std::size_t i = 0; i < 12; i += 2) results[i].metrics.sum_b2 = results[i].metrics.sum_a2;
  CHECK_FALSE(degenerate_dump(results));
  std::vector<TensorResult> alone = layers(true, true);
  for (int i = 0; i < 9; ++i) alone.push_back(output(fmt::format("head{}/output.0", i), 1 + i, i));
  CHECK(degenerate_dump(alone));
}

TEST_CASE("zeros beside what repeats count as what they are") {
  // Zeros on the candidate alone are what is left of an op, not a content of its own.
  std::vector<TensorResult> results = layers(true, true);
  for (std::size_t i = 0; i < results.size(); i += 2) results[i].metrics.sum_b2 = 0;
  CHECK_FALSE(degenerate_dump(results));
}

}  // namespace
}  // namespace ttcheck::locate
