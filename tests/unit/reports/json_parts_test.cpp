// SPDX-License-Identifier: Apache-2.0
#include "reports/json_parts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Row {
  std::string what;
  OrderedJson made;
  std::string text;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(row.made.dump() == row.text);
  }
}

TEST_CASE("numbers, text and places") {
  check({
      {"a number", number(0.5), "0.5"},
      {"no number", number(std::nan("")), R"("nan")"},
      {"infinity", number(kInfinite), R"("inf")"},
      {"its negative", number(-kInfinite), R"("-inf")"},
      {"text", text("a"), R"("a")"},
      {"no text", text(""), R"("")"},
      {"text or null", text_or_null("a"), R"("a")"},
      {"null", text_or_null(""), "null"},
      {"a value", value_or_null(std::optional(3)), "3"},
      {"no value", value_or_null(std::optional<int>()), "null"},
      {"no place", where_of({}), "null"},
      {"a place", where_of(Where{"f", 7, "w"}), R"({"file":"f","offset":7})"},
      {"an empty place", where_of(Where{}), R"({"file":null,"offset":null})"},
  });
}

TEST_CASE("runs and coverage") {
  RunSummary run{"p", "hf", {}, {3, 4}, 5, 6};
  run.mesh.axes = {{"pp", 2}, {"dp", 1}, {"tp", 4}};
  run.mesh.expert_axes = {{"pp", 2}, {"ep", 3}, {"edp", 1}};
  Coverage coverage;
  coverage.paired = 1;
  coverage.only_reference = 2;
  coverage.only_candidate = 3;
  coverage.excluded = 4;
  coverage.excluded_by = {{"b", 1}, {"a", 3}};
  coverage.unreadable = 5;
  coverage.steps_only_reference = {6};
  coverage.steps_only_candidate = {7, 8};
  coverage.bytes_compared = 9;
  coverage.bytes_read = 10;
  coverage.bytes_unclaimed = 11;
  check({
      {"no run", json_of(std::optional<RunSummary>()), "null"},
      {"a run", json_of(std::optional(run)),
       R"({"path":"p","format":"hf","mesh":{"pp":2,"tp":4,"ep":3},"steps":[3,4],"tensors":5,)"
       R"("bytes":6})"},
      {"coverage", json_of(coverage),
       R"({"paired":1,"weights":0,"only_reference":2,"only_candidate":3,"excluded":4,)"
       R"("excluded_by":{"b":1,"a":3},"beside":[],"unreadable":5,"steps_only_reference":[6],)"
       R"("steps_only_candidate":[7,8],"bytes_compared":9,"bytes_read":10,"bytes_unclaimed":11})"},
  });
}

TEST_CASE("where runs part first") {
  Divergence first;
  first.tensor = "w";
  Divergence full{3, 1, Phase::backward, "l.0", "w", {0, 2}, {{"tp", {1}}}, Extents{4, 5}, true};
  check({
      {"nowhere", json_of(std::optional<Divergence>()), "null"},
      {"a tensor", json_of(std::optional(first)),
       R"({"step":null,"microbatch":null,"phase":null,"op":null,"tensor":"w","ranks":[],)"
       R"("axes":{},"index":null,"introduced":null,"before":null})"},
      {"all of it", json_of(std::optional(full)),
       R"({"step":3,"microbatch":1,"phase":"backward","op":"l.0","tensor":"w","ranks":[0,2],)"
       R"("axes":{"tp":[1]},"index":[4,5],"introduced":true,"before":null})"},
  });
}

TEST_CASE("searches over steps and over ops") {
  Search search;
  search.axis = "steps";
  search.first_bad_step = 5;
  search.first_bad_op = "bad";
  search.last_good_op = "good";
  search.examined = 1;
  search.total = 2;
  search.bytes_read = 3;
  search.bytes_total = 4;
  const std::string rest = R"("examined":1,"total":2,"bytes_read":3,"bytes_total":4,"log":[]})";
  check({{"steps", json_of(search), R"({"axis":"steps","first_bad":5,"last_good":null,)" + rest}});
  search.axis = "ops";
  search.last_good_op = "";
  check({{"ops", json_of(search), R"({"axis":"ops","first_bad":"bad","last_good":null,)" + rest}});
}

TEST_CASE("calibrations, of which each tensor is told when all are asked for") {
  Calibration calibration;
  calibration.runs = {"a", "b"};
  calibration.perturbations = {"", "seed"};
  calibration.comparisons = 3;
  calibration.m = 0.25;
  calibration.m0 = 0.5;
  calibration.eps = 0.125;
  calibration.tensors = {{{"w", Phase::forward}, 1, 2, kInfinite, 4}};
  const std::string head =
      R"({"runs":[{"path":"a","perturbation":null},{"path":"b","perturbation":"seed"}],)"
      R"("comparisons":3,"m":0.25,"m0":0.5,"eps":0.125,"measured":1,"tensors":[)";
  check({
      {"in short", json_of(calibration, false), head + R"(],"file":null})"},
      {"all", json_of(calibration, true),
       head + R"({"name":"w","phase":"forward","d":1.0,"row":2.0,"outlier":"inf","samples":4})"
              R"(],"file":null})"},
  });
}

TEST_CASE("findings") {
  Finding bare;
  bare.code = Code::omission;
  bare.message = "m";
  const std::string none =
      R"("step":null,"phase":null,"op":null,"tensor":null,"ranks":[],"axes":{},"where":null,)"
      R"("reference_where":null,"candidate_tensor":null,"index":null,"error":null,"limit":null,)"
      R"("limit_source":null,"ratio":null,"message":"m","hypotheses":[],"microbatch":0,"call":0,"why":null,"aside":null,"next":[]})";
  const std::string code =
      R"({"code":"TT505","name":")" + std::string(info(bare.code).name) + "\",";
  for (const auto& [severity, word] : {std::pair(Severity::note, "note"),
                                       {Severity::warning, "warning"},
                                       {Severity::error, "error"}}) {
    bare.severity = severity;
    CHECK(json_of(bare).dump() == code + R"("severity":")" + word + "\"," + none);
  }
  Finding full = bare;
  full.step = 3;
  full.phase = Phase::loss;
  full.op = "l";
  full.ranks = {1};
  full.axes = {{"tp", {0}}};
  full.where = Where{"f", 1};
  full.reference_where = Where{"g", 2};
  full.candidate_tensor = "c";
  full.index = Extents{7};
  full.error = kInfinite;
  full.limit = 0.5;
  full.limit_source = "s";
  full.ratio = 2;
  full.paste = "p";
  full.hypotheses = {{"scale",
                      {{"k", 0.5},
                       {"n", std::int64_t{2}},
                       {"t", std::string("x")},
                       {"l", std::vector<std::int64_t>{1, 2}},
                       {"i", kInfinite}},
                      0.25,
                      kInfinite}};
  CHECK(
      json_of(full).dump() ==
      code +
          R"("severity":"error","step":3,"phase":"loss","op":"l","tensor":"","ranks":[1],)"
          R"("axes":{"tp":[0]},"where":{"file":"f","offset":1},)"
          R"("reference_where":{"file":"g","offset":2},"candidate_tensor":"c","index":[7],)"
          R"("error":"inf","limit":0.5,"limit_source":"s","ratio":2.0,"message":"m\np",)"
          R"("hypotheses":[{"name":"scale","parameters":{"k":0.5,"n":2,"t":"x","l":[1,2],)"
          R"("i":"inf"},"residual":0.25,"weight":"inf"}],"microbatch":0,"call":0,"why":null,"aside":null,"next":[]})");
}

TEST_CASE("a finding about a nameless tensor has a measure, one about none has not") {
  Finding finding;
  const auto tensor = [&] { return json_of(finding)["tensor"].dump(); };
  CHECK(tensor() == "null");
  finding.index = Extents{0};
  CHECK(tensor() == R"("")");
  finding.index.reset();
  finding.error = 1;
  CHECK(tensor() == R"("")");
  finding.error.reset();
  finding.limit = 1;
  CHECK(tensor() == R"("")");
  finding.limit.reset();
  finding.tensor = "w";
  CHECK(tensor() == R"("w")");
}

TEST_CASE("facts") {
  check({
      {"of both", json_of(FactResult{"n", FactValue(std::int64_t{3}), FactValue(true), "differs"}),
       R"({"name":"n","reference":3,"candidate":true,"verdict":"differs"})"},
      {"of one", json_of(FactResult{"n", {}, FactValue(std::string("x")), "only-candidate"}),
       R"({"name":"n","reference":null,"candidate":"x","verdict":"only-candidate"})"},
      {"real ones", json_of(FactResult{"n", FactValue(0.5), FactValue(kInfinite), "differs"}),
       R"({"name":"n","reference":0.5,"candidate":"inf","verdict":"differs"})"},
  });
}

}  // namespace
}  // namespace ttcheck::reports
