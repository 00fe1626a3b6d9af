// SPDX-License-Identifier: Apache-2.0
// Whole comparisons of small runs: what must never be called equal.

#include "cli/diff.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::cli {
namespace {

using tests::run_json;
using tests::small_safetensors;
using tests::TempDir;
using tests::TraceFile;

Verdict diff_of(const TempDir& a, const TempDir& b) {
  Options options;
  options.command = "diff";
  options.words = {a.path(), b.path()};
  return diff(options);
}

int code_of(const Verdict& verdict) { return exit_code(verdict, FailOn::error); }

std::int64_t count_of(const Verdict& verdict, Code code, Severity severity) {
  return std::ranges::count_if(verdict.findings, [&](const Finding& finding) {
    return finding.code == code && finding.severity == severity;
  });
}

bool says(const Verdict& verdict, std::string_view text) {
  return std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
    return finding.message.find(text) != std::string::npos;
  });
}

/// One f32 tensor `w` of two elements: 1 and 2, or 1 and 3.
std::string weights(bool other = false) {
  std::string text = small_safetensors();
  if (other) text[text.size() - 2] = '\x40', text[text.size() - 1] = '\x40';
  return text;
}

TEST_CASE("diff: one damaged step of a series costs that step") {
  const TempDir a, b;
  for (const int step : {1, 2, 3}) {
    a.write(fmt::format("step-{}/w.safetensors", step), weights());
    b.write(fmt::format("step-{}/w.safetensors", step), weights(step == 3));
  }
  b.write("step-2/w.safetensors", "\x10 garbage");
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::diverged);
  CHECK_FALSE(verdict.complete);
  CHECK(code_of(verdict) == 3);
  REQUIRE(verdict.first.has_value());
  CHECK(verdict.first->step == 3);
  CHECK(verdict.coverage.paired == 2);
  CHECK(verdict.coverage.unreadable == 1);
  CHECK(std::ranges::any_of(verdict.findings, [](const Finding& finding) {
    return finding.code == Code::unreadable && finding.step == 2 && finding.incomplete;
  }));
}

/// A trace of one step; record i of a rank is module m.i's output at seq i.
void write_trace(const TempDir& directory, const std::vector<int>& modules) {
  TraceFile file;
  for (const int i : modules) {
    file.add(fmt::format("k{}", i), 2,
             fmt::format(R"({{"seq":{0},"phase":"forward","module":"m.{0}","kind":"output"}})", i));
  }
  directory.write("run.json", run_json());
  directory.write("step-000001/rank-00000.safetensors", file.text());
}

TEST_CASE("diff: an op between ops that meet is a warning, a trace cut short is divergence") {
  const TempDir a, gap, end, hole;
  write_trace(a, {0, 1, 2, 3, 4, 5});
  write_trace(gap, {0, 1, 3, 4, 5});
  write_trace(end, {0, 1});
  write_trace(hole, {0, 3, 4, 5});
  const Verdict one = diff_of(a, gap);
  CHECK(*one.outcome == Outcome::equal);
  CHECK(one.complete);
  CHECK(count_of(one, Code::missing, Severity::warning) == 1);
  const Verdict back = diff_of(gap, a);
  CHECK(*back.outcome == Outcome::equal);
  CHECK(count_of(back, Code::unexpected, Severity::warning) == 1);
  for (const TempDir* side : {&end, &hole}) {
    const Verdict cut = diff_of(a, *side);
    CHECK(*cut.outcome == Outcome::diverged);
    CHECK(cut.complete);
    CHECK(code_of(cut) == 1);
    CHECK(count_of(cut, Code::missing, Severity::error) == (side == &end ? 4 : 2));
  }
}

/// A trace of `ranks` ranks with one record that was stored and one of which a hash is all.
void write_hashes(const TempDir& directory, const std::vector<std::string>& shapes,
                  const std::vector<std::string>& hashes) {
  directory.write("run.json", run_json(static_cast<int>(hashes.size())));
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    const std::string hash = hashes[rank].empty() ? "" : R"("hash":"xxh3:)" + hashes[rank] + "\",";
    const TraceFile file =
        TraceFile()
            .add("k0", 2, R"({"seq":0,"phase":"forward","module":"m","kind":"input"})")
            .add("k1", 0,
                 R"({"seq":1,"phase":"forward","module":"m","kind":"output",)" + hash +
                     R"("shape_local":)" + shapes[rank] + "}");
    directory.write(fmt::format("step-000001/rank-{:05}.safetensors", rank), file.text());
  }
}

TEST_CASE("diff: records of which only hashes were kept have shapes and replicas") {
  const std::string one = "0123456789abcdef", two = "fedcba9876543210";
  const TempDir a, turned, pair, same, torn, silent;
  write_hashes(a, {"[2,3]"}, {one});
  write_hashes(turned, {"[3,2]"}, {one});
  const Verdict shape = diff_of(a, turned);
  CHECK(*shape.outcome == Outcome::diverged);
  CHECK(count_of(shape, Code::shape_or_dtype, Severity::error) == 1);
  write_hashes(pair, {"[2,3]", "[2,3]"}, {one, one});
  write_hashes(same, {"[2,3]", "[2,3]"}, {one, one});
  write_hashes(torn, {"[2,3]", "[2,3]"}, {one, two});
  write_hashes(silent, {"[2,3]", "[2,3]"}, {one, ""});
  CHECK(*diff_of(pair, same).outcome == Outcome::equal);
  const Verdict unlike = diff_of(pair, torn);
  CHECK(*unlike.outcome == Outcome::diverged);
  REQUIRE(unlike.first.has_value());
  CHECK(unlike.first->ranks == std::vector<std::int32_t>{1});
  const Verdict back = diff_of(torn, pair);
  CHECK(*back.outcome == Outcome::diverged);
  CHECK(count_of(back, Code::replica_mismatch, Severity::error) == 1);
  const Verdict unread = diff_of(pair, silent);
  CHECK(*unread.outcome == Outcome::not_comparable);
  CHECK(unread.coverage.unreadable == 1);
}

/// A trace of one record for each of the stats, a rank each, of which two numbers were kept.
void write_stats(const TempDir& directory, const std::vector<std::string>& stats,
                 const std::string& dims = "", const std::string& dtype = "F32") {
  directory.write("run.json", run_json(static_cast<int>(stats.size())));
  for (std::size_t rank = 0; rank < stats.size(); ++rank) {
    const std::string about = R"({"seq":0,"phase":"forward","module":"m","kind":"output",)" + dims +
                              R"("shape_local":[2],"stats":{)" + stats[rank] +
                              R"(,"nan":0,"inf":0,"numel":2}})";
    std::string text = TraceFile().add("k0", 0, about).text();
    text.replace(text.find("F32"), dtype.size(), dtype);  // of as many letters
    directory.write(fmt::format("step-000001/rank-{:05}.safetensors", rank), text);
  }
}

TEST_CASE("diff: records of which only statistics were kept are held to the limits") {
  const TempDir a, same, near, far, two, copies;
  write_stats(a, {R"("min":-3,"max":4,"l2":5)"});
  write_stats(same, {R"("min":-3,"max":4,"l2":5)"});
  write_stats(near, {R"("min":-3,"max":4,"l2":5.000001)"});
  write_stats(far, {R"("min":-3,"max":4,"l2":5.1)"});
  const Verdict equal = diff_of(a, same);
  CHECK(*equal.outcome == Outcome::noise);  // F5: values in another order have the same
  CHECK(count_of(equal, Code::unmeasured_noise, Severity::note) == 1);
  CHECK(*diff_of(a, near).outcome == Outcome::noise);
  const Verdict differs = diff_of(a, far);
  CHECK(*differs.outcome == Outcome::diverged);
  CHECK(differs.first.has_value());
  // Two halves of [4]: the norm is that of both.
  const std::string cut = R"("dims":"x[tp]",)";
  write_stats(two, {R"("min":-3,"max":0,"l2":3)", R"("min":0,"max":4,"l2":4)"}, cut);
  write_stats(copies, {R"("min":-3,"max":0,"l2":3)", R"("min":0,"max":4,"l2":4.1)"}, cut);
  CHECK(*diff_of(two, two).outcome == Outcome::noise);
  const TempDir agree, torn;
  write_stats(agree, {R"("min":-3,"max":4,"l2":5)", R"("min":-3,"max":4,"l2":5)"});
  write_stats(torn, {R"("min":-3,"max":4,"l2":5)", R"("min":-3,"max":4,"l2":6)"});
  CHECK(count_of(diff_of(a, agree), Code::replica_mismatch, Severity::error) == 0);
  CHECK(count_of(diff_of(a, torn), Code::replica_mismatch, Severity::error) == 1);
  CHECK(*diff_of(two, copies).outcome == Outcome::diverged);
}

TEST_CASE("diff: statistics of another floating dtype are held to the coarser one's limits") {
  const TempDir fp32, fp16, far, whole;
  write_stats(fp32, {R"("min":-3,"max":4,"l2":5)"});
  write_stats(fp16, {R"("min":-3,"max":4,"l2":5.001)"}, "", "F16");
  write_stats(far, {R"("min":-3,"max":4,"l2":6)"}, "", "F16");
  write_stats(whole, {R"("min":-3,"max":4,"l2":5)"}, "", "I32");
  CHECK(*diff_of(fp32, fp16).outcome == Outcome::noise);
  CHECK(*diff_of(fp32, far).outcome == Outcome::diverged);
  CHECK(count_of(diff_of(fp32, whole), Code::shape_or_dtype, Severity::error) == 1);
}

std::string event(std::string_view name, int rank, std::string_view value) {
  return fmt::format(R"({{"step":1,"rank":{},"name":"{}","value":{}}})", rank, name, value) + "\n";
}

TEST_CASE("diff: what ranks state one by one is compared as what they share is") {
  const auto run = [](const TempDir& directory, int ranks, const std::string& events) {
    directory.write("run.json", run_json(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      directory.write(fmt::format("step-000001/rank-{:05}.safetensors", rank),
                      TraceFile()
                          .add("k", 2, R"({"seq":0,"phase":"forward","module":"m","kind":"input"})")
                          .text());
    }
    directory.write("events.jsonl", events);
  };
  const TempDir shared, apart, batches, others, alone;
  run(shared, 2, event("lr", 0, "0.1") + event("lr", 1, "0.1"));
  run(apart, 2, event("lr", 0, "0.1") + event("lr", 1, "0.5"));
  run(batches, 2, event("batch_id", 0, "0") + event("batch_id", 1, "1"));
  run(others, 2, event("batch_id", 0, "100") + event("batch_id", 1, "101"));
  run(alone, 1, event("batch_id", 0, "7"));
  for (const bool swapped : {false, true}) {
    const Verdict rates = swapped ? diff_of(apart, shared) : diff_of(shared, apart);
    CHECK(code_of(rates) == 1);
    CHECK(count_of(rates, Code::config, Severity::error) == 1);
    CHECK(count_of(rates, Code::config, Severity::warning) == 1);
    CHECK(says(rates, "ranks disagree on lr: 0.1 on rank 0, 0.5 on rank 1"));
  }
  CHECK(count_of(diff_of(batches, others), Code::config, Severity::error) == 2);
  CHECK(code_of(diff_of(batches, batches)) == 0);
  CHECK(code_of(diff_of(alone, batches)) == 0);  // other meshes share batches in another way
}

TEST_CASE("diff: what the reference's own ranks disagree about is no note beyond the limit") {
  constexpr const char* kRecord = R"({"seq":1,"phase":"forward","module":"m","kind":"output"})";
  const TempDir a, b;
  for (const TempDir* side : {&a, &b}) {
    side->write("run.json", run_json(2));
    for (const int rank : {0, 1}) {
      std::string text = TraceFile().add("k", 4, kRecord).text();
      if (side == &a && rank == 1) text[text.size() - 2] = '\x10';  // 3 becomes another number
      side->write(fmt::format("step-000001/rank-0000{}.safetensors", rank), text);
    }
  }
  for (const bool swapped : {false, true}) {
    const Verdict verdict = swapped ? diff_of(b, a) : diff_of(a, b);
    CHECK(*verdict.outcome == Outcome::diverged);
    CHECK(code_of(verdict) == 1);
    CHECK(count_of(verdict, Code::replica_mismatch, Severity::error) == 1);
  }
}

TEST_CASE("diff: tensors without a common value are excluded on both sides") {
  const TempDir a, b;
  for (const TempDir* side : {&a, &b}) {
    side->write("layout.toml",
                "layout = 1\n[mesh]\naxes = [\"dp=2\"]\n[files]\npattern = "
                "\"rank_{rank}.safetensors\"\n[[tensor]]\nmatch = \"w\"\ndims = \"* # rep=any\"\n"
                "[[tensor]]\nmatch = \"u\"\ndims = \"*\"\n");
    for (const int rank : {0, 1}) {
      side->write(
          fmt::format("rank_{}.safetensors", rank),
          tests::safetensors_of(R"({"u":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                                std::string("\0\0\x80\x3f\0\0\0", 7) + (side == &a ? 'A' : 'B')));
    }
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::equal);
  CHECK(verdict.coverage.paired == 1);
  CHECK(verdict.coverage.excluded == 2);
  REQUIRE(verdict.coverage.excluded_by.size() == 1);
  CHECK(verdict.coverage.excluded_by[0].first == "rep=any");
}

TEST_CASE("diff: a length that is open as a rank is missing is not called another shape") {
  const TempDir a, b;
  const auto rank = [](int length, std::string_view data) {
    return tests::safetensors_of(
        fmt::format(R"({{"u":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}},)"
                    R"("w":{{"dtype":"F32","shape":[{}],"data_offsets":[4,{}]}}}})",
                    length, 4 + 4 * length),
        data);
  };
  for (const TempDir* side : {&a, &b}) {
    side->write("layout.toml",
                "layout = 1\n[mesh]\naxes = [\"tp=2\"]\n[files]\npattern = "
                "\"rank_{rank}.safetensors\"\n[[tensor]]\nmatch = \"w\"\ndims = \"x[tp]\"\n"
                "[[tensor]]\nmatch = \"u\"\ndims = \"*\"\n");
    side->write("rank_0.safetensors", rank(2, "aaaabbbbcccc"));
  }
  a.write("rank_1.safetensors", rank(1, "aaaadddd"));
  const Verdict verdict = diff_of(a, b);
  CHECK(count_of(verdict, Code::shape_or_dtype, Severity::error) == 0);
  CHECK(count_of(verdict, Code::missing_rank, Severity::error) == 1);
  CHECK(says(verdict, "the first is at most [3] in the reference, [4] in the candidate"));
  CHECK(verdict.coverage.paired == 1);
  CHECK(verdict.coverage.unreadable == 1);
  CHECK_FALSE(verdict.complete);
  CHECK(code_of(verdict) == 3);

  b.write("rank_0.safetensors", rank(4, "aaaabbbbccccddddeeee"));
  CHECK(count_of(diff_of(a, b), Code::shape_or_dtype, Severity::error) == 1);
}

TEST_CASE("traces of models of another width or depth: the fact is the reason") {
  const auto trace = [](const TempDir& directory, int layers, int width, bool weights = false) {
    TraceFile file;
    if (weights) {
      file.add("w", 4, R"({"seq":9,"phase":"state","module":"m","kind":"param","slot":"weight"})");
    }
    for (int i = 0; i < layers; ++i) {
      file.add(fmt::format("k{}", i), width,
               fmt::format(
                   R"({{"seq":{0},"phase":"forward","module":"layers.{0}","kind":"output"}})", i));
    }
    directory.write("run.json", run_json(1, fmt::format(R"(,"model":{{"layers":{},"hidden":{}}})",
                                                        layers, width)));
    directory.write("step-000001/rank-00000.safetensors", file.text());
  };
  const TempDir a, b, wide, deep;
  trace(a, 2, 4);
  trace(b, 2, 4);
  trace(wide, 2, 8);
  trace(deep, 3, 4);
  CHECK(*diff_of(a, b).outcome == Outcome::equal);
  CHECK(diff_of(a, wide).reason == "the models differ: model.hidden is 4 and 8");
  CHECK(*diff_of(a, wide).outcome == Outcome::not_comparable);
  CHECK(diff_of(a, deep).reason == "the models differ: model.layers is 2 and 3");
  const TempDir whole, dropped;  // of one model, as its weights show
  trace(whole, 3, 4, true);
  trace(dropped, 2, 4, true);
  CHECK(diff_of(whole, dropped).reason.empty());
}

}  // namespace
}  // namespace ttcheck::cli
