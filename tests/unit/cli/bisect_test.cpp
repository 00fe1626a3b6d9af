#include "cli/bisect.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

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
  CHECK(content_of(options.log) == "# ttcheck bisect\nbad 8\ngood 4\nbad 6\nbad 5\ngood 3\n");
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
