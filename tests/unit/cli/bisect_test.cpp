// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include "cli/diff.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::cli {
namespace {

using tests::TempDir;
using tests::TraceFile;

Options options_of(const TempDir& reference, const TempDir& candidate) {
  Options options;
  options.command = "bisect";
  options.words = {reference.path(), candidate.path()};
  options.progress = When::never;
  return options;
}

/// Steps 1 to 8 of one record each; from `bad` on it has an element more, which others lack.
void write_steps(const TempDir& directory, int bad, const std::string& hash = "") {
  directory.write("run.json", tests::run_json());
  for (int step = 1; step <= 8; ++step) {
    const std::string stored = hash.empty() ? "" : R"(,"hash":"xxh3:)" + hash + "\"";
    const TraceFile file = TraceFile().add(
        "k0", step < bad ? 2 : 3,
        R"({"seq":0,"phase":"forward","module":"m","kind":"output")" + stored + "}");
    directory.write(fmt::format("step-{:06}/rank-00000.safetensors", step), file.text());
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("bisect: the first bad step, whichever it is") {
  const TempDir a;
  write_steps(a, 9);
  for (int bad = 1; bad <= 9; ++bad) {
    const TempDir b;
    write_steps(b, bad);
    const Verdict verdict = bisect(options_of(a, b));
    REQUIRE(verdict.search);
    CHECK(verdict.search->total == 8);
    if (bad == 9) {
      CHECK_FALSE(verdict.search->first_bad_step);
      CHECK(verdict.outcome == Outcome::equal);
      CHECK(verdict.search->examined == 1);
    } else {
      CHECK(verdict.search->first_bad_step == bad);
      CHECK(verdict.outcome == Outcome::diverged);
      CHECK(verdict.search->examined <= 5);
    }
  }
}

TEST_CASE("bisect: a log is replayed, and refused where it is of other runs") {
  const TempDir a, b, logs;
  write_steps(a, 9);
  write_steps(b, 5);
  Options options = options_of(a, b);
  options.log = logs.path() + "/log";
  const Verdict first = bisect(options);
  CHECK(content_of(options.log) == "# ttcheck bisect\nbad 8\ngood 4\nbad 6\nbad 5\n");
  options.replay = options.log;
  options.log.clear();
  const Verdict again = bisect(options);
  CHECK(again.search->first_bad_step == first.search->first_bad_step);
  CHECK(again.search->examined == 0);
  CHECK(again.outcome == Outcome::diverged);
  options.replay = logs.write("windows", "bad 8\r\ngood 4\r\nbad 6\r\nbad 5\r\ngood 3\r\n");
  CHECK(bisect(options).search->examined == 0);
  for (const char* text : {"bad 9\n", "worse 3\n", "bad x\n", "bad\n", "bad -\n"}) {
    options.replay = logs.write("other", text);
    CHECK_THROWS_AS(bisect(options), Error);
  }
}

/// Steps 1 to 8 of a record that never differs; from `bad` on also of the records that `add` adds.
template <class Add>
void write_more(const TempDir& directory, int bad, Add add) {
  directory.write("run.json", tests::run_json());
  for (int step = 1; step <= 8; ++step) {
    TraceFile file;
    file.add("k0", 2, R"({"seq":0,"phase":"forward","module":"m","kind":"output"})");
    add(file, step >= bad);
    directory.write(fmt::format("step-{:06}/rank-00000.safetensors", step), file.text());
  }
}

TEST_CASE("bisect: NaN and Inf are bad wherever the candidate holds them") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::string extra = R"({"seq":1,"phase":"forward","module":"n","kind":"output")";
  const auto stored = [&](TraceFile& file, bool bad) {
    file.add("k1", 2, extra + "}", bad ? kNan : 1);
  };
  const auto statistics = [&](std::string_view wrong) {
    return [&extra, wrong](TraceFile& file, bool bad) {
      file.add(
          "k1", 0,
          fmt::format(R"({},"shape_local":[2],"stats":{{"min":0,"max":1,"l2":1,{},"numel":2}}}})",
                      extra, bad ? wrong : R"("nan":0,"inf":0)"));
    };
  };
  const TempDir a, b;
  bool alike = false;
  std::string tensor = "n/output.0";
  SUBCASE("of a tensor that it alone has") {
    write_steps(a, 9);
    write_more(b, 5, stored);
  }
  SUBCASE("of a kind of tensors that it alone has") {
    write_steps(a, 9);
    write_more(b, 5, [](TraceFile& file, bool bad) {
      file.add("k1", 2,
               R"({"seq":1,"phase":"optimizer","module":"n","kind":"moment2","slot":"weight"})",
               bad ? kNan : 1);
    });
    tensor = "n/moment2.weight";
    alike = true;  // the kind is excluded from what is compared
  }
  SUBCASE("of statistics that it alone has") {
    write_steps(a, 9);
    write_more(b, 5, statistics(R"("nan":0,"inf":1)"));
  }
  SUBCASE("of statistics alone") {
    write_more(a, 9, statistics(""));
    write_more(b, 5, statistics(R"("nan":1,"inf":0)"));
  }
  SUBCASE("of statistics on both sides alike") {
    write_more(a, 5, statistics(R"("nan":1,"inf":0)"));
    write_more(b, 5, statistics(R"("nan":1,"inf":0)"));
    alike = true;
  }
  Options options = options_of(a, b);
  options.predicate = bisect::Predicate::non_finite;
  const Verdict verdict = bisect(options);
  REQUIRE(verdict.search);
  CHECK(verdict.search->first_bad_step == 5);
  CHECK(verdict.search->last_good_step == 4);
  CHECK((verdict.outcome == Outcome::diverged) != alike);
  CHECK(std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    return finding.code == Code::non_finite && finding.tensor == tensor;
  }));
}

TEST_CASE("bisect: the reference's NaN is not the candidate's") {
  const TempDir a, b;
  const auto extra = [](float value) {
    return [value](TraceFile& file, bool bad) {
      file.add("k1", 2, R"({"seq":1,"phase":"forward","module":"n","kind":"output"})",
               bad ? value : 1);
    };
  };
  write_more(a, 5, extra(std::numeric_limits<float>::quiet_NaN()));
  write_steps(b, 9);
  Options options = options_of(a, b);
  options.predicate = bisect::Predicate::non_finite;
  CHECK_FALSE(bisect(options).search->first_bad_step);
}

TEST_CASE("bisect: a command says what is bad, as git's does") {
  const TempDir a;
  write_steps(a, 9);
  Options options = options_of(a, a);
  options.run = "test $1 -lt 6";
  const Verdict verdict = bisect(options);
  CHECK(verdict.search->first_bad_step == 6);
  CHECK(verdict.outcome == Outcome::equal);  // the step's own comparison
  CHECK(verdict.findings.back().severity == Severity::error);
  options.run = "test $1 -ge 4 -a $1 -le 5 && exit 125; test $1 -lt 5";
  const Verdict skipped = bisect(options);
  CHECK(skipped.search->first_bad_step == 6);
  CHECK(skipped.search->last_good_step == 3);
  CHECK_FALSE(skipped.complete);
  for (const char* command : {"exit 128", "exit 255", "kill -9 $$"}) {
    options.run = command;
    CHECK_THROWS_AS(bisect(options), Error);
  }
}

TEST_CASE("bisect: a stored hash that is the same stands for the bytes") {
  const std::string hash = "0123456789abcdef";
  const TempDir a, b;
  write_steps(a, 9, hash);
  write_steps(b, 9, hash);
  Options options = options_of(a, b);
  options.over = Over::ops;
  const Verdict verdict = bisect(options);
  REQUIRE(verdict.tensors.size() == 8);
  for (const TensorResult& result : verdict.tensors) CHECK(result.rule == "hash");
  for (const TensorResult& result : diff(options).tensors) CHECK(result.rule != "hash");
}

/// One step of four blocks, each an op and the block's output; the op of block `bad` puts out
/// something else, which the block's output does not show.
void write_blocks(const TempDir& directory, int bad) {
  directory.write("run.json", tests::run_json());
  TraceFile file;
  int seq = 0;
  for (int block = 0; block < 4; ++block) {
    for (const std::string module : {"layers.{}.mlp", "layers.{}"}) {
      const std::string name = fmt::format(fmt::runtime(module), block);
      const bool wrong = block == bad && name.ends_with("mlp");
      file.add(
          fmt::format("k{}", seq), 8,
          fmt::format(R"({{"seq":{},"phase":"forward","module":"{}","kind":"output")", seq, name) +
              "}",
          wrong ? 5 : 1);
      ++seq;
    }
  }
  directory.write("step-000001/rank-00000.safetensors", file.text());
}

TEST_CASE("bisect: an op whose error dies out within its block is found as a diff finds it") {
  const TempDir a;
  write_blocks(a, -1);
  for (int bad = -1; bad < 4; ++bad) {
    const TempDir b;
    write_blocks(b, bad);
    Options options = options_of(a, b);
    options.over = Over::ops;
    const Verdict verdict = bisect(options);
    const Verdict whole = diff(options);
    CHECK(verdict.outcome == whole.outcome);
    REQUIRE(verdict.search);
    CHECK(verdict.search->first_bad_op == (bad < 0 ? "" : fmt::format("layers.{}.mlp", bad)));
    CHECK(verdict.search->examined == 8);
    REQUIRE(verdict.first.has_value() == whole.first.has_value());
    if (verdict.first) CHECK(verdict.first->tensor == whole.first->tensor);
  }
}

/// Two ops of one layer each with its weight and master, all of whose masters and the output of the
/// second op are another's.
void write_masters(const TempDir& directory, bool bad) {
  directory.write("run.json", tests::run_json());
  TraceFile file;
  int key = 0;
  const auto add = [&](std::string_view phase, int layer, std::string_view kind, bool wrong) {
    file.add(fmt::format("k{}", key), 2,
             fmt::format(R"({{"seq":{},"phase":"{}","module":"layers.{}.mlp","kind":"{}"{}}})", key,
                         phase, layer, kind, phase == "state" ? R"(,"slot":"weight")" : ""),
             wrong ? 2.0F : 1.0F);
    ++key;
  };
  for (const char* kind : {"param", "master"}) {
    for (int layer = 0; layer < 2; ++layer) add("state", layer, kind, bad && kind[0] == 'm');
  }
  for (int layer = 0; layer < 2; ++layer) add("forward", layer, "output", bad && layer == 1);
  directory.write("step-000001/rank-00000.safetensors", file.text());
}

TEST_CASE("bisect: B7: masters that are wrong are parameters that are") {
  const TempDir a, b;
  write_masters(a, false);
  write_masters(b, true);
  Options options = options_of(a, b);
  options.over = Over::ops;
  const Verdict verdict = bisect(options);
  const Verdict whole = diff(options);
  REQUIRE(verdict.first);
  REQUIRE(whole.first);
  CHECK(verdict.first->tensor == whole.first->tensor);
  CHECK(verdict.search->first_bad_op == "layers.0.mlp");
}

TEST_CASE("bisect: ops of a checkpoint are refused") {
  const TempDir a, b;
  write_steps(a, 9);
  b.write("w.safetensors", tests::safetensors_of("{}", ""));
  Options options = options_of(a, b);
  options.over = Over::ops;
  CHECK_THROWS_AS(bisect(options), Error);
}

}  // namespace
}  // namespace ttcheck::cli
