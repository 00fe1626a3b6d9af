// SPDX-License-Identifier: Apache-2.0
#include "formats/own/answer.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "reports/json.hpp"

namespace ttcheck::formats {
namespace {

TensorResult diverged_record(std::int32_t microbatch, std::int32_t call) {
  TensorResult row;
  row.step = 3;
  row.identity = {"layer.w", Phase::forward, microbatch, call};
  row.by_limit = Outcome::diverged;
  row.trace = std::make_shared<const TraceRecord>();
  return row;
}

TEST_CASE("the first difference of a kept answer is the call of its own micro-batch") {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  verdict.tensors = {diverged_record(0, 2), diverged_record(1, 5)};
  verdict.first.emplace();
  verdict.first->step = 3;
  verdict.first->phase = Phase::forward;
  verdict.first->tensor = "layer.w";
  verdict.first->microbatch = 1;
  const auto call_read = [&] {
    const Verdict read = parse_answer(reports::write_json(verdict, {.all = true}), "kept.json");
    REQUIRE(read.first);
    return read.first->call;
  };
  CHECK(call_read() == 5);
  verdict.first->microbatch = 0;
  CHECK(call_read() == 2);
  verdict.first->microbatch.reset();  // the first row of that name
  CHECK(call_read() == 2);
}

}  // namespace
}  // namespace ttcheck::formats
