// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/diff.hpp"
#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;

constexpr const char* kTree = "M_debug_tree_FULL_TENSORS.json";
constexpr const char* kSummaryTree = "M_debug_tree_SUMMARY.json";

/// JSON written with single quotes.
std::string json(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

/// A tensor of two numbers; `value` is what stands behind the key of that name, if anything.
std::string pair_of(const std::string& value, const std::string& stats = "") {
  return json("{'shape': 'torch.Size([2])', 'dtype': 'torch.float32'" +
              (value.empty() ? "" : ", 'value': " + value) + stats + "}");
}

std::string printed(const std::string& numbers) { return "['tensor([" + numbers + "])']"; }

std::string stats_of(const std::string& mean, const std::string& max) {
  return ", 'mean': 'tensor(" + mean + ")', 'std': 'tensor(1.0000e+00)', 'min': 'tensor(0.)', " +
         "'max': 'tensor(" + max + ")'";
}

std::string module(const std::string& name, const std::string& inputs, const std::string& outputs,
                   const std::string& children = "") {
  return json("{'module_path': '" + name + "', 'inputs': " + inputs +
              (children.empty() ? "" : ", 'children': [" + children + "]") +
              (outputs.empty() ? "" : ", 'outputs': " + outputs) + "}");
}

std::string model(const std::string& children) {
  return module("M", "{'args': [], 'kwargs': {'use_cache': 'False'}}", "", children);
}

Verdict diff_of(const TempDir& reference, const TempDir& candidate) {
  cli::Options options;
  options.words = {reference.path(), candidate.path()};
  return cli::diff(options);
}

std::vector<std::string> record_names(const State& state) {
  std::vector<std::string> names;
  for (const Record& record : state.records) names.push_back(record.identity.name);
  return names;
}

TEST_CASE("values come in the order of the pass, a module's outputs after what is in it") {
  const TempDir dir;
  const std::string one = pair_of(printed("1.0000e+00, 2.0000e+00"));
  const std::string twice =
      module("M.a.b", "{}", one) + "," + module("M.a.b", "{}", "[" + one + "]");
  dir.write(kTree, model(module("M.a", "{'args': [" + one + "], 'kwargs': {'mask': " + one + "}}",
                                "[" + one + ", [" + one + "], 'None']", twice)));
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(run->format == "hf-debug");
  const State state = run->open(0);
  CHECK(record_names(state) == std::vector<std::string>{"a inputs.args.0", "a inputs.kwargs.mask",
                                                        "a.b outputs", "a.b outputs", "a outputs",
                                                        "a outputs.1.0"});
  CHECK(state.records[2].identity.call == 0);
  CHECK(state.records[3].identity.call == 1);
  CHECK(state.records[4].trace->inputs ==
        std::vector<std::string>{"forward:a inputs.args.0", "forward:a inputs.kwargs.mask"});
  CHECK(state.records[0].kind == Kind::input);
  CHECK(state.records[5].kind == Kind::output);
  CHECK(find_fact(state.facts, "top-level inputs.kwargs.use_cache") != nullptr);
}

TEST_CASE("a unit of the last printed digit is noise, six are not, the model's class is free") {
  const TempDir a, near, far;
  const auto tree = [](const std::string& name, const std::string& numbers) {
    return module(name, "{}", "", module(name + ".a", "{}", pair_of(printed(numbers))));
  };
  a.write(kTree, tree("M", "1.0000e+00, 2.0000e+00"));
  near.write("Other_debug_tree_FULL_TENSORS.json", tree("Other", "1.0001e+00, 2.0001e+00"));
  far.write(kTree, tree("M", "1.0000e+00, 2.0006e+00"));
  CHECK(diff_of(a, near).outcome == Outcome::noise);
  CHECK(diff_of(a, far).outcome == Outcome::diverged);
  const Verdict same = diff_of(a, a);
  CHECK(same.outcome == Outcome::equal);
  REQUIRE(same.tensors.size() == 1);
  CHECK(same.tensors.front().cast == "print");
}

TEST_CASE("where dots hide the difference, statistics of the whole show it") {
  const TempDir a, b;
  const auto tree = [](const std::string& max) {
    return model(module("M.a", "{}",
                        "{'shape': 'torch.Size([9])', 'dtype': 'torch.float32', "
                        "'value': ['tensor([1.0000e+00, ..., 1.0000e+00])']" +
                            stats_of("2.0000e+00", max) + "}"));
  };
  a.write(kTree, tree("5.0000e+00"));
  b.write(kTree, tree("7.0000e+00"));
  const Verdict same = diff_of(a, a);
  CHECK(same.outcome == Outcome::equal);
  REQUIRE(same.tensors.size() == 1);
  CHECK(same.tensors.front().cast == "print of a part");
  CHECK(std::ranges::any_of(same.findings, [](const Finding& finding) {
    return finding.message.find("printed in part: 1; 7 of their elements") != std::string::npos;
  }));
  CHECK(diff_of(a, b).outcome == Outcome::diverged);
}

TEST_CASE("without values a tree is held to its statistics, and what has none is not passed over") {
  const TempDir a, b, bare;
  const auto tree = [](const std::string& mean) {
    return model(module("M.a", "{}", pair_of("", stats_of(mean, "4.0000e+00"))));
  };
  a.write(kSummaryTree, tree("2.0000e+00"));
  b.write(kSummaryTree, tree("3.0000e+00"));
  bare.write(kSummaryTree, model(module("M.a", "{}", pair_of(""))));
  CHECK(diff_of(a, a).outcome == Outcome::noise);
  CHECK(diff_of(a, b).outcome == Outcome::diverged);
  CHECK(diff_of(bare, bare).outcome == Outcome::not_comparable);
  CHECK_FALSE(diff_of(bare, bare).complete);
}

TEST_CASE("a damaged tree with values gives way to the one without, and is named") {
  const TempDir dir;
  dir.write(kTree, json("{'module_path': 'M', "));
  dir.write(kSummaryTree,
            model(module("M.a", "{}", pair_of("", stats_of("2.0000e+00", "4.0000e+00")))));
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  const State state = run->open(0);
  CHECK(state.records.size() == 1);
  REQUIRE(state.findings.size() == 1);
  CHECK(state.findings[0].where->file.ends_with(kTree));
  CHECK(state.findings[0].incomplete);
}

TEST_CASE("of files that several calls wrote the last is kept, and what is not there is said") {
  const TempDir dir;
  const std::string saved = pair_of("'./elsewhere/M.a_outputs.safetensors'");
  dir.write(kTree, model(module("M.a", "{}", saved) + "," + module("M.a", "{}", saved) + "," +
                         module("M.c", "{}", pair_of("'./M.c_outputs.safetensors'")) + "," +
                         module("M.d", "{}", pair_of("'./M.d_outputs.safetensors'"))));
  dir.write("M.a_outputs.safetensors", tests::small_safetensors("data"));
  dir.write("M.d_outputs.safetensors",
            tests::safetensors_of(json("{'data':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}"),
                                  std::string(4, '\0')));
  dir.write("M.old_outputs.safetensors", "12345");
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  const State state = run->open(0);
  REQUIRE(state.records.size() == 4);
  CHECK_FALSE(state.records[0].stored);
  CHECK(state.records[1].stored);
  CHECK_FALSE(state.records[2].stored);
  CHECK_FALSE(state.records[3].stored);
  CHECK(state.bytes_unclaimed == 5);
  const auto says = [&](const std::string& words, bool incomplete) {
    return std::ranges::any_of(state.findings, [&](const Finding& finding) {
      return finding.message.find(words) != std::string::npos && finding.incomplete == incomplete;
    });
  };
  CHECK(says("wrote again: 1", false));
  CHECK(says("the file holds f32 [1], the tree says f32 [2]", true));
  CHECK(says("M.old_outputs.safetensors", false));
}

TEST_CASE("trees of several models are listed, not chosen from") {
  const TempDir dir;
  dir.write(kTree, model(""));
  dir.write("N_debug_tree_SUMMARY.json", model(""));
  const Result<Run> run = open(dir.path());
  REQUIRE_FALSE(run);
  CHECK(run.error().message().find("M, N") != std::string::npos);
  CHECK(open(dir.path() + "/" + kTree));
}

}  // namespace
}  // namespace ttcheck::formats
