// SPDX-License-Identifier: Apache-2.0
// The native trace through the door of the room.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "formats/open.hpp"
#include "tests/support/project_file.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::formats {
namespace {

using tests::run_json;
using tests::TempDir;
using tests::TraceFile;

constexpr const char* kRecord = R"({"seq":1,"phase":"forward","module":"m","kind":"output"})";

Run opened(const std::string& path) {
  Result<Run> run = open(path);
  if (!run) FAIL(run.error().what());
  return std::move(*run);
}

std::string refused(const std::string& path) {
  const Result<Run> run = open(path);
  return run ? "opened" : run.error().message();
}

std::vector<std::string> messages(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.message);
  return out;
}

TEST_CASE("a trace opens with mesh, steps and facts, step by step") {
  const TempDir dir;
  dir.write("run.json", run_json(2));
  dir.write("events.jsonl", R"({"step":7,"rank":0,"name":"lr","value":0.5})"
                            "\n");
  for (const char* step : {"step-000007", "step-1000000"}) {
    for (const char* rank : {"/rank-00000.safetensors", "/rank-00001.safetensors"}) {
      dir.write(std::string(step) + rank, TraceFile().add("k", 3, kRecord).text());
    }
  }
  const Run run = opened(dir.path());
  CHECK(run.format == "ttcheck-trace");
  CHECK(run.trace);
  CHECK(run.mesh.axes == std::vector<Axis>{{"tp", 2}});
  CHECK(run.steps == std::vector<std::optional<std::int64_t>>{7, 1000000});
  CHECK(run.findings.empty());
  const State state = run.open(0);
  CHECK(state.step == 7);
  CHECK(state.findings.empty());
  CHECK(state.missing_ranks.empty());
  CHECK(find_fact(state.facts, "lr") != nullptr);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[1].piece.rank == 1);
  CHECK(state.records[1].at == Coordinates{{"tp", 1}});
  float last = 0;
  state.records[1].piece.source->read(state.records[1].piece.offset + 8,
                                      std::as_writable_bytes(std::span(&last, 1)));
  CHECK(last == 2);
}

TEST_CASE("both encodings of one step read alike") {
  const Run a = opened(tests::project_file("samples/trace/reference"));
  const Run b = opened(tests::project_file("samples/trace/reference-h5"));
  CHECK(a.steps == b.steps);
  const State left = a.open(0), right = b.open(0);
  CHECK(left.findings.empty());
  CHECK(right.findings.empty());
  REQUIRE(left.records.size() == right.records.size());
  CHECK(left.records.size() > 20);
  for (std::size_t i = 0; i < left.records.size(); ++i) {
    const Record &one = left.records[i], &other = right.records[i];
    CAPTURE(one.identity.name);
    CHECK(one.identity == other.identity);
    CHECK(one.trace->seq == other.trace->seq);
    CHECK(one.dtype == other.dtype);
    CHECK(one.shape == other.shape);
    std::vector<std::byte> x(byte_size(one.dtype, element_count(one.shape))), y(x.size());
    one.piece.source->read(one.piece.offset, x);
    other.piece.source->read(other.piece.offset, y);
    CHECK(x == y);
  }
}

TEST_CASE("records come in order of seq, and repeats without call are numbered") {
  const TempDir dir;
  dir.write("run.json", run_json());
  const auto record = [](int seq, std::string_view more) {
    return R"({"phase":"forward","module":"m","kind":"output","seq":)" + std::to_string(seq) +
           std::string(more) + "}";
  };
  dir.write("step-000001/rank-00000.safetensors",
            TraceFile()
                .add("a", 1, record(9, ""))
                .add("b", 2, record(4, ""))
                .add("c", 3, record(5, R"(,"microbatch":1)"))
                .add("d", 4, record(6, R"(,"slot":1,"call":1)"))
                .add("e", 5, record(7, R"(,"slot":1,"call":1)"))
                .text());
  const State state = opened(dir.path()).open(0);
  REQUIRE(state.records.size() == 4);
  CHECK(state.records[0].trace->seq == 4);
  CHECK(state.records[0].identity.call == 0);
  CHECK(state.records[3].trace->seq == 9);
  CHECK(state.records[3].identity.call == 1);
  CHECK(state.records[1].identity.call == 0);
  CHECK(state.unreadable == 1);
  CHECK(messages(state.findings) ==
        std::vector<std::string>{"1 repeats without `call` are numbered by `seq`",
                                 "record seq 7 repeats the identity of another"});
  CHECK(state.findings[0].severity == Severity::warning);
}

TEST_CASE("bad records and files are named, the rest is read") {
  const TempDir dir;
  dir.write("run.json", run_json(4));
  TraceFile file;
  file.add("good", 2, kRecord).add("bad", 2, R"({"seq":1})");
  dir.write("step-000001/rank-00000.safetensors", file.text());
  dir.write("step-000001/rank-00001.safetensors", file.text().substr(0, 40));
  dir.write(
      "step-000001/rank-00002.safetensors",
      tests::safetensors_of(
          R"({"__metadata__":{"ttcheck_trace":"1","lost":"{}"},"w":{"dtype":"F32","shape":[1],)"
          R"("data_offsets":[0,4]}})",
          "abcd"));
  dir.write("step-000001/rank-00009.safetensors", file.text());
  dir.write("step-000001/notes.txt", "hello");
  const State state = opened(dir.path()).open(0);
  CHECK(state.records.size() == 1);
  CHECK(state.unreadable == 3);
  CHECK(state.missing_ranks == std::vector<std::int32_t>{3});
  REQUIRE(state.unreadable_ranks.size() == 1);
  CHECK(state.unreadable_ranks.at(1).where().file ==
        dir.path("step-000001/rank-00001.safetensors"));
  CHECK(state.bytes_unclaimed == 5 + file.text().size());
  const std::vector<std::string> said = messages(state.findings);
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(
        said, [&](const std::string& one) { return one.find(text) != std::string::npos; });
  };
  CHECK(has("record field `phase` is missing"));
  CHECK(has("tensor has no record in __metadata__"));
  CHECK(has("record has no readable tensor"));
  CHECK(has("rank 9 is outside of a world of 4"));
  CHECK(has("not a rank's file"));
  CHECK(said.size() == 5);
}

TEST_CASE("a trace without run.json, with another version or without steps is refused") {
  const TempDir dir;
  dir.write("step-000001/rank-00000.safetensors", TraceFile().add("k", 1, kRecord).text());
  CHECK(refused(dir.path()) == "run.json is missing");
  const TempDir series;  // of checkpoints whose folders have such names
  series.write("step-000001/model.safetensors", tests::small_safetensors());
  series.write("step-000002/rank-00000.safetensors", tests::small_safetensors());
  CHECK(opened(series.path()).format == "safetensors");
  dir.write("run.json", R"({"ttcheck_trace":2})");
  CHECK(refused(dir.path()) == "trace version 2 where 1 is known");
  const TempDir empty;
  empty.write("run.json", run_json());
  CHECK(refused(empty.path()) == "trace has no step-* directories");
}

TEST_CASE("JL13: events that are cut or replaced while they are read are told at the end") {
  const TempDir dir;
  const std::string line = R"({"step":1,"rank":0,"name":"lr","value":0.5})"
                           "\n";
  dir.write("run.json", run_json());
  dir.write("events.jsonl", line + line);
  dir.write("step-000001/rank-00000.safetensors", TraceFile().add("k", 1, kRecord).text());
  const Run run = opened(dir.path());
  CHECK(run.open(0).records.size() == 1);
  CHECK(run.close().empty());
  dir.write("events.jsonl", line);
  const std::vector<Finding> findings = run.close();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].where->file == dir.path("events.jsonl"));
  CHECK(findings[0].incomplete);
}

TEST_CASE("bad events leave the tensors alone") {
  const TempDir dir;
  dir.write("run.json", run_json());
  dir.write("events.jsonl", "{oops\n");
  dir.write("step-000001/rank-00000.safetensors", TraceFile().add("k", 1, kRecord).text());
  const Run run = opened(dir.path());
  CHECK(run.findings.size() == 1);
  CHECK(run.open(0).records.size() == 1);
}

}  // namespace
}  // namespace ttcheck::formats
