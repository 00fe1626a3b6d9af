// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/run_json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/trace_builder.hpp"

namespace ttcheck::formats {
namespace {

std::string message(std::string text) {
  try {
    static_cast<void>(parse_trace_run(std::move(text), "run.json"));
  } catch (const Error& error) {
    CHECK(error.where().file == "run.json");
    return error.message();
  }
  return "accepted";
}

TEST_CASE("run.json gives the mesh, in its order, and facts with dotted names") {
  const TraceRun run = parse_trace_run(
      R"({"ttcheck_trace":1,"world_size":2,"mesh":{"pp":2,"dp":1},"ranks":[{"pp":0,"dp":0},{"pp":1,"dp":0}],)"
      R"("model":{"layers":4},"optimizer":{"betas":[0.9,0.95],"clip":null},"precision":{"compute":"bfloat16"},"seed":7})",
      "run.json");
  CHECK(run.findings.empty());
  CHECK(run.mesh.axes == std::vector<Axis>{{"pp", 2}, {"dp", 1}});
  CHECK(run.mesh.coordinates(1) == Coordinates{{"pp", 1}, {"dp", 0}});
  const auto fact = [&](std::string_view name) {
    const Fact* found = find_fact(run.facts, name);
    REQUIRE(found != nullptr);
    return *found;
  };
  CHECK(std::get<std::int64_t>(fact("model.layers").value) == 4);
  CHECK(fact("model.layers").use == FactUse::compared);
  CHECK(std::get<double>(fact("optimizer.betas.1").value) == 0.95);
  CHECK(std::get<std::string>(fact("precision.compute").value) == "bfloat16");
  CHECK(fact("precision.compute").use == FactUse::note);
  CHECK(fact("seed").use == FactUse::note);
  CHECK(find_fact(run.facts, "optimizer.clip") == nullptr);
  CHECK(find_fact(run.facts, "mesh.pp") == nullptr);
}

TEST_CASE("a run.json that cannot be used is refused, and says why") {
  CHECK(message("{}") == "key ttcheck_trace is missing");
  CHECK(message(R"({"ttcheck_trace":2})") == "trace version 2 where 1 is known");
  CHECK(message(R"({"ttcheck_trace":1})") == "key mesh is missing");
  CHECK(message(R"({"ttcheck_trace":1,"mesh":{},"world_size":3,"ranks":[{}]})") ==
        "world_size is 3, the list of ranks has 1");
  CHECK(message(R"({"ttcheck_trace":1,"mesh":{"tp":2},"world_size":1,"ranks":[{"tp":2}]})") ==
        "rank 0 has coordinate 2 on an axis of 2");
  CHECK(message("[") != "accepted");
  CHECK(message("[]") == "run.json is no object");
}

TEST_CASE("a key that is there twice, and ranks in one place, are findings") {
  const TraceRun twice = parse_trace_run(tests::run_json(1, R"(,"seed":1,"seed":2)"), "run.json");
  REQUIRE(twice.findings.size() == 1);
  CHECK(twice.findings[0].message == "key seed is there twice");
  const TraceRun same = parse_trace_run(
      R"({"ttcheck_trace":1,"mesh":{},"world_size":2,"ranks":[{},{}]})", "run.json");
  REQUIRE(same.findings.size() == 1);
  CHECK(same.findings[0].message == "rank 1 has the coordinates of another rank");
}

TEST_CASE("claims of run.json have bounds: axes, ranks in one place, facts") {
  std::string axes = R"("a0":1)";
  for (int i = 1; i < 65; ++i) axes += ",\"a" + std::to_string(i) + "\":1";
  CHECK(message(R"({"ttcheck_trace":1,"world_size":1,"ranks":[{}],"mesh":{)" + axes + "}}") ==
        "mesh of more than 64 axes, which is the most");
  std::string ranks = "{}";
  for (int i = 1; i < 500; ++i) ranks += ",{}";
  const TraceRun same = parse_trace_run(
      R"({"ttcheck_trace":1,"mesh":{},"world_size":500,"ranks":[)" + ranks + "]}", "run.json");
  REQUIRE(same.findings.size() == 101);
  CHECK(same.findings.back().message == "399 more of these are not listed");
  std::string seeds = "0";
  for (int i = 1; i < 10'001; ++i) seeds += ",0";
  const TraceRun many =
      parse_trace_run(tests::run_json(1, R"(,"model":[)" + seeds + "]"), "run.json");
  REQUIRE(many.findings.size() == 1);
  CHECK(many.findings[0].message == "more than 10000 values, the rest is not read");
  CHECK(many.findings[0].incomplete);
}

TEST_CASE("names of facts are kept up to a limit: one long key may be above very many values") {
  const std::string key(8192, 'k');
  std::string items = "0";
  for (int i = 1; i < 5000; ++i) items += ",0";
  const TraceRun list =
      parse_trace_run(tests::run_json(1, ",\"" + key + "\":[" + items + "]"), "run.json");
  CHECK(list.facts.size() < 2100);  // with those of a run without it
  CHECK(list.facts.size() > 2000);
  REQUIRE(list.findings.size() == 1);
  CHECK(list.findings[0].message ==
        "names of more than 16777216 bytes together, the rest is not read");
  CHECK(list.findings[0].severity == Severity::warning);
  CHECK(list.findings[0].incomplete);
  REQUIRE(list.findings[0].where);
  CHECK(list.findings[0].where->object.starts_with(key + "."));

  std::string twice = "\"a\":0";
  for (int i = 1; i < 5000; ++i) twice += ",\"a\":0";
  const TraceRun object =
      parse_trace_run(tests::run_json(1, ",\"" + key + "\":{" + twice + "}"), "run.json");
  REQUIRE(object.findings.size() == 102);
  CHECK(object.findings.back().message ==
        "names of more than 16777216 bytes together, the rest is not read");
}

TEST_CASE("only the mesh and the ranks of run.json itself are no facts") {
  const TraceRun run =
      parse_trace_run(tests::run_json(1, R"(,"":{"mesh":1},"a":{"ranks":[[],{},2]})"), "run.json");
  CHECK(find_fact(run.facts, "mesh") != nullptr);
  CHECK(find_fact(run.facts, "a.ranks.2") != nullptr);
  CHECK(find_fact(run.facts, "ranks") == nullptr);
}

TEST_CASE("axes that are there twice, in the mesh or in a rank, are refused") {
  CHECK(message(R"({"ttcheck_trace":1,"mesh":{"tp":1,"tp":1},"world_size":1,"ranks":[{}]})") ==
        "axis is listed twice");
  CHECK(
      message(R"({"ttcheck_trace":1,"mesh":{"tp":2},"world_size":1,"ranks":[{"tp":0,"tp":1}]})") ==
      "axis is listed twice");
}

}  // namespace
}  // namespace ttcheck::formats
