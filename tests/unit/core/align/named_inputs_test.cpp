// SPDX-License-Identifier: Apache-2.0
#include "core/align/named_inputs.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

Tensor record(const std::string& name, Kind kind, std::vector<std::string> inputs = {},
              Shape shape = {2, 3}, std::int32_t microbatch = 0) {
  Tensor tensor;
  tensor.identity.name = name;
  tensor.identity.phase = Phase::forward;
  tensor.identity.microbatch = microbatch;
  tensor.kind = kind;
  tensor.shape = std::move(shape);
  auto trace = std::make_shared<TraceRecord>();
  trace->inputs = std::move(inputs);
  tensor.trace = std::move(trace);
  return tensor;
}

const std::vector<Tensor> kWhole = {
    record("a/output.0", Kind::output), record("b/output.0", Kind::output, {"a/output.0"}),
    record("c/output.0", Kind::output, {"gone/output.0", "state:c/param.weight"})};

/// The pairs that an input which the candidate has alone gets.
std::vector<PairIndex> met(const Tensor& input) {
  const std::vector<Tensor> candidate = {input};
  Bench bench{kWhole, candidate, {}, {0}, {}};
  pair_named_inputs(bench);
  CHECK(bench.right.size() == 1 - bench.done.pairs.size());
  return bench.done.pairs;
}

TEST_CASE("an input meets what the other side's op took") {
  const auto pairs = met(record("b/input.0", Kind::input));
  REQUIRE(pairs.size() == 1);
  CHECK(pairs.front().reference == 0);
  CHECK(pairs.front().candidate == 0);
  CHECK(pairs.front().rule == kNamedInput);
}

TEST_CASE("and nothing that it did not take") {
  CHECK(met(record("b/input.1", Kind::input)).empty());              // it took one
  CHECK(met(record("b/input.mask", Kind::input)).empty());           // of no place
  CHECK(met(record("a/input.0", Kind::input)).empty());              // an op that names none
  CHECK(met(record("c/input.0", Kind::input)).empty());              // a record that is not there
  CHECK(met(record("c/input.1", Kind::input)).empty());              // of another phase
  CHECK(met(record("b/input.0", Kind::input, {}, {3, 2})).empty());  // another shape
  CHECK(met(record("b/input.0", Kind::input, {}, {2, 3}, 1)).empty());
  CHECK(met(record("b/output.1", Kind::output)).empty());
}

TEST_CASE("of a record that was made by several calls its name tells nothing") {
  std::vector<Tensor> whole = kWhole;
  whole.push_back(record("a/output.0", Kind::output));
  whole.back().identity.call = 1;
  const std::vector<Tensor> candidate = {record("b/input.0", Kind::input)};
  Bench bench{whole, candidate, {}, {0}, {}};
  pair_named_inputs(bench);
  CHECK(bench.done.pairs.empty());
}

TEST_CASE("it works from the reference, too") {
  const std::vector<Tensor> reference = {record("b/input.0", Kind::input)};
  Bench bench{reference, kWhole, {0}, {}, {}};
  pair_named_inputs(bench);
  REQUIRE(bench.done.pairs.size() == 1);
  CHECK(bench.done.pairs.front().candidate == 0);
  CHECK(bench.left.empty());
}

}  // namespace
}  // namespace ttcheck::align
