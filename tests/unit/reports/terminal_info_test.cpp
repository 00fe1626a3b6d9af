// SPDX-License-Identifier: Apache-2.0
// The whole screen of `info`, less the findings.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

Verdict info_of() {
  Verdict verdict;
  verdict.command = "info";
  verdict.reference = RunSummary{"p\n", "hf\x1b", {}, {}, 1, 4};
  return verdict;
}

void add(Verdict& verdict, std::string name, Kind kind, DType dtype, Shape shape,
         std::optional<std::int64_t> step = {}) {
  TensorResult& one = verdict.tensors.emplace_back();
  one.identity.name = std::move(name);
  one.kind = kind;
  one.dtype = dtype;
  one.shape = std::move(shape);
  one.step = step;
}

const std::string kPath = "p\\n  hf\\x1b\n\n";
const std::string kMesh = "  mesh       one rank, as far as the files say\n";
const std::string kSteps = "  steps      no step numbers\n";
const std::string kTensors = "  tensors    1, 4 B\n";
const std::string kHint = "\nEvery tensor with its shape: --all; as JSON: --json\n";

TEST_CASE("what a run is") {
  struct Row {
    std::string what;
    std::function<void(Verdict&)> change;
    std::string lines;
  };
  const std::vector<Row> rows = {
      {"nothing more", [](Verdict&) {}, kMesh + kSteps + kTensors},
      {"a mesh",
       [](Verdict& verdict) { verdict.reference->mesh.axes = {{"pp", 3}, {"dp", 1}, {"tp\n", 2}}; },
       "  mesh       pp=3 tp\\n=2 (6 ranks)\n" + kSteps + kTensors},
      {"one rank of a mesh",
       [](Verdict& verdict) {
         verdict.reference->mesh.axes = {{"tp", 2}};
         verdict.reference->mesh.ranks = {{{"tp", 1}}};
       },
       "  mesh       tp=2 (1 rank)\n" + kSteps + kTensors},
      {"a step", [](Verdict& verdict) { verdict.reference->steps = {7}; },
       kMesh + "  steps      1: 7\n" + kTensors},
      {"steps", [](Verdict& verdict) { verdict.reference->steps = {7, 8, 9, 20}; },
       kMesh + "  steps      4: 7-9,20\n" + kTensors},
      {"many tensors",
       [](Verdict& verdict) {
         verdict.reference->tensors = 1234;
         verdict.reference->bytes = 2048;
       },
       kMesh + kSteps + "  tensors    1,234, 2 KiB\n"},
      {"one that cannot be read", [](Verdict& verdict) { verdict.coverage.unreadable = 1; },
       kMesh + kSteps + kTensors + "  unreadable 1 tensor\n"},
      {"two that cannot be read", [](Verdict& verdict) { verdict.coverage.unreadable = 2; },
       kMesh + kSteps + kTensors + "  unreadable 2 tensors\n"},
      {"a byte of no tensor", [](Verdict& verdict) { verdict.coverage.bytes_unclaimed = 1; },
       kMesh + kSteps + kTensors + "  unclaimed  1 B belong to no tensor\n"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Verdict verdict = info_of();
    row.change(verdict);
    CHECK(info_sections(verdict, {}) == kPath + row.lines + kHint);
  }
}

TEST_CASE(
    "without a run nothing is said, in colour its path is bold, and lines keep to the width") {
  CHECK(info_sections({}, {}).empty());
  CHECK(info_sections(info_of(), {.color = true, .width = 30}) ==
        "\x1b[1mp\\n\x1b[0m  hf\\x1b\n\n"
        "  mesh       one rank, as far\n"
        "             as the files say\n" +
            kSteps + kTensors + kHint);
}

/// The table's heading is bold in colour.
std::string painted(const std::string& table) {
  const std::size_t end = table.find('\n', 1);
  return "\n\x1b[1m" + table.substr(1, end - 1) + "\x1b[0m" + table.substr(end);
}

TEST_CASE("tensors by kind and dtype, and with --all each") {
  Verdict verdict = info_of();
  add(verdict, "a.m", Kind::moment1, DType::bf16, {1000, 1234}, 4);
  add(verdict, "b\n", Kind::weight, DType::f32, {2, 3}, 4);
  add(verdict, "c", Kind::weight, DType::f4_e2m1, {3}, 4);
  add(verdict, "d", Kind::weight, DType::f32, {}, 4);
  add(verdict, "b\n", Kind::weight, DType::f32, {2, 3}, 5);
  verdict.tensors[3].identity.phase = Phase::sync;
  verdict.tensors[3].step.reset();
  const std::string few = kMesh + kSteps + kTensors;
  const std::string lines = few + "  parameters 10 (f32, f4_e2m1)\n";
  const std::string kinds =
      "\nKind     dtype    tensors   elements      size\n"
      "weight   f32            2          7      28 B\n"
      "weight   f4_e2m1        1          3       2 B\n"
      "moment1  bf16           1  1,234,000  2.35 MiB\n";
  const std::string each =
      "\nTensor  kind     dtype    shape         steps\n"
      "a.m     moment1  bf16     [1000, 1234]  4\n"
      "b\\n     weight   f32      [2, 3]        4,5\n"
      "c       weight   f4_e2m1  [3]           4\n"
      "sync d  weight   f32      []\n";
  CHECK(info_sections(verdict, {}) == kPath + lines + kinds + kHint);
  CHECK(info_sections(verdict, {.all = true}) == kPath + lines + kinds + each);
  CHECK(info_sections(verdict, {.color = true, .all = true}) ==
        "\x1b[1mp\\n\x1b[0m  hf\\x1b\n\n" + lines + painted(kinds) + painted(each));
  CHECK(info_sections(info_of(), {.all = true}) == kPath + few);
}

TEST_CASE("facts that say most of a run come first, unless all are listed") {
  Verdict verdict = info_of();
  for (const char* name :
       {"optimizer.groups.0.fused", "note", "optimizer.groups.0.lr", "model.heads"}) {
    verdict.facts.push_back({name, FactValue{std::int64_t{1}}, {}, ""});
  }
  const auto order = [&](const ReportOptions& options) {
    const std::string text = info_sections(verdict, options);
    return text.find("heads") < text.find("lr") && text.find("lr") < text.find("note") &&
           text.find("note") < text.find("fused");
  };
  CHECK(order({}));
  CHECK(!order({.all = true}));
}

TEST_CASE("facts, and how many of them are listed") {
  struct Row {
    int top;
    bool all;
    std::size_t listed;
    std::string rest;
  };
  const std::vector<Row> rows = {
      {0, false, 3, ""},
      {1, false, 1, "... and 2 more (--all)\n"},
      {2, false, 2, "... and 1 more (--all)\n"},
      {3, false, 3, ""},
      {4, false, 3, ""},
      {1, true, 3, ""},
  };
  const std::vector<std::string> lines = {"model.heads  4\n", "m\\n          -\n",
                                          "run          a\\x1b\n"};
  Verdict verdict = info_of();
  verdict.facts = {{"model.heads", FactValue(std::int64_t{4}), {}, "only-reference"},
                   {"m\n", {}, {}, "only-reference"},
                   {"run", FactValue(std::string("a\x1b")), {}, "only-reference"}};
  add(verdict, "w", Kind::weight, DType::f32, {1});
  const std::string before =
      kPath + kMesh + kSteps + kTensors + "  parameters 1 (f32)\n" +
      "\nKind    dtype  tensors  elements  size\nweight  f32          1         1   4 B\n";
  const std::string each = "\nTensor  kind    dtype  shape\nw       weight  f32    [1]\n";
  for (const Row& row : rows) {
    INFO(row.top << " " << row.all);
    std::string table = "\nFact         value\n";
    for (std::size_t i = 0; i < row.listed; ++i) table += lines[i];
    CHECK(info_sections(verdict, {.top = row.top, .all = row.all}) ==
          before + table + row.rest + (row.all ? each : kHint));
  }
}

TEST_CASE("of a fact's value the first eighty characters are shown") {
  Verdict verdict = info_of();
  verdict.facts = {{"a", FactValue(std::string(80, 'x')), {}, "only-reference"},
                   {"b", FactValue(std::string(81, 'x')), {}, "only-reference"}};
  const std::string xs(80, 'x');
  const std::string table =
      "\nFact  value\na     " + xs + "\nb     " + xs + "\\...(81 bytes, fnv1a 3f9a5801d238bd47)\n";
  CHECK(info_sections(verdict, {}) == kPath + kMesh + kSteps + kTensors + table + kHint);
  CHECK(info_sections(verdict, {.color = true}).ends_with(painted(table) + kHint));
}

}  // namespace
}  // namespace ttcheck::reports
