// SPDX-License-Identifier: Apache-2.0
#include "reports/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace ttcheck::reports {
namespace {

using Json = nlohmann::ordered_json;

Json written(const Verdict& verdict, bool all = false) {
  return Json::parse(write_json(verdict, {.all = all}));
}

std::string keys(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) text += (text.empty() ? "" : " ") + key;
  return text;
}

Verdict diverged() {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  verdict.exit = 1;
  verdict.reference = RunSummary{"a", "hf", {{{"tp", 2}, {"dp", 1}}, {}, {}}, {3}, 1, 4};
  verdict.first = Divergence{};
  verdict.first->tensor = "w";
  Finding finding;
  finding.code = Code::diverged;
  finding.tensor = "w";
  finding.error = std::numeric_limits<double>::infinity();
  finding.limit = 0.5;
  finding.ratio = std::nan("");
  verdict.findings.push_back(finding);
  return verdict;
}

TEST_CASE("keys of a report are those of schema 1, in its order") {
  const Json json = written(diverged());
  CHECK(keys(json) ==
        "ttcheck command verdict complete exit reason relation reference candidate coverage tally "
        "first roots "
        "findings tensors "
        "facts");
  CHECK(keys(json["ttcheck"]) == "version schema argv");
  CHECK(keys(json["reference"]) == "path format mesh steps tensors bytes");
  CHECK(keys(json["coverage"]) ==
        "paired weights only_reference only_candidate excluded excluded_by beside unreadable "
        "steps_only_reference steps_only_candidate bytes_compared bytes_read bytes_unclaimed");
  CHECK(keys(json["first"]) ==
        "step microbatch phase op tensor ranks axes index introduced before");
  CHECK(keys(json["findings"][0]) ==
        "code name severity step phase op tensor ranks axes where reference_where candidate_tensor "
        "index error limit limit_source ratio message hypotheses microbatch call why aside next");
}

TEST_CASE("a key without a value is null, ranks without any are an empty list") {
  const Json first = written(diverged())["first"];
  CHECK(first["step"].is_null());
  CHECK(first["phase"].is_null());
  CHECK(first["op"].is_null());
  CHECK(first["ranks"].dump() == "[]");
  CHECK(written(diverged())["candidate"].is_null());
}

TEST_CASE("numbers that JSON lacks are strings, axes of size 1 are left out of the mesh") {
  const Json json = written(diverged());
  CHECK(json["findings"][0]["error"] == "inf");
  CHECK(json["findings"][0]["ratio"] == "nan");
  CHECK(json["findings"][0]["limit"] == 0.5);
  CHECK(json["reference"]["mesh"].dump() == R"({"tp":2})");
}

TEST_CASE("integers are exact") {
  Verdict verdict = diverged();
  verdict.coverage.bytes_read = std::numeric_limits<std::uint64_t>::max();
  verdict.facts.push_back({"seed", FactValue{std::int64_t{9007199254740993}}, {}, "note"});
  const std::string text = write_json(verdict, {});
  CHECK(text.find("18446744073709551615") != text.npos);
  CHECK(text.find("9007199254740993") != text.npos);
}

TEST_CASE("NM04 names of any bytes leave the object valid") {
  Verdict verdict = diverged();
  verdict.findings[0].tensor = "a\xff\n\"";
  CHECK(written(verdict)["findings"][0]["tensor"] == "a\\xff\n\"");
}

TEST_CASE("a nameless tensor has an empty name, a finding about none has null") {
  Verdict verdict = diverged();
  verdict.findings[0].tensor = "";
  CHECK(written(verdict)["findings"][0]["tensor"] == "");
  verdict.findings.push_back({});
  CHECK(written(verdict)["findings"][1]["tensor"].is_null());
}

TEST_CASE("tensors are those that are not equal, with --all every one") {
  Verdict verdict = diverged();
  for (const Outcome outcome : {Outcome::equal, Outcome::noise, Outcome::diverged}) {
    TensorResult& tensor = verdict.tensors.emplace_back();
    tensor.identity.name = name(outcome);
    tensor.by_limit = outcome;
  }
  const auto names = [&](bool all) {
    std::string text;
    const Json json = written(verdict, all);
    for (const Json& one : json["tensors"]) {
      text += one["name"].get<std::string>() + " ";
    }
    return text;
  };
  CHECK(names(false) == "noise diverged ");
  CHECK(names(true) == "equal noise diverged ");
}

TEST_CASE("info has no verdict, and with --all one row per tensor with its steps") {
  Verdict verdict;
  verdict.command = "info";
  for (const std::int64_t step : {1, 2}) {
    TensorResult tensor;
    tensor.step = step;
    tensor.identity.name = "w";
    tensor.shape = {2, 3};
    verdict.tensors.push_back(tensor);
  }
  const Json json = written(verdict, true);
  CHECK(!json.contains("verdict"));
  CHECK(json["tensors"].dump() ==
        R"([{"name":"w","kind":"weight","dtype":"f32","shape":[2,3],"steps":[1,2]}])");
}

TEST_CASE("words that were not understood leave their message in the object") {
  Verdict verdict;
  verdict.reason = "unknown flag";
  verdict.complete = false;
  CHECK(written(verdict)["error"] == "unknown flag");
}

}  // namespace
}  // namespace ttcheck::reports
