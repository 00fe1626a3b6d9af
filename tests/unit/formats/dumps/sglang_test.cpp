// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/diff.hpp"
#include "formats/dumps/sglang/name.hpp"
#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::TempDir;

TEST_CASE("a dump's name is tags, of which a value may hold what separates them") {
  const auto name = parse_sglang_name("step=3___rank=1___dump_index=12___name=a.b___layer_id=0.pt");
  REQUIRE(name);
  CHECK(name->step == 3);
  CHECK(name->rank == 1);
  CHECK(name->index == 12);
  CHECK(name->identity() == "layer_id=0 name=a.b");
  for (const auto& [pass, step] : {std::pair("0", 0), std::pair("1", 0), std::pair("3", 2)}) {
    const std::string tag = std::string("forward_pass_id=") + pass;
    CHECK(parse_sglang_name(tag + "___rank=0___name=x___dump_index=2.pt")->step == step);
  }
  CHECK(parse_sglang_name("forward_pass_id=1___rank=0___name=x=y___z___dump_index=2.pt")->name ==
        "x=y___z");
  CHECK(parse_sglang_name("step=0___rank=0___dump_index=1___name=a___recompute_status=disabled.pt")
            ->identity() == "name=a");
  CHECK(parse_sglang_name("step=0___rank=0___dump_index=1___name=a___recompute_status=again.pt")
            ->identity() == "name=a recompute_status=again");
  CHECK(parse_sglang_name("step=0___rank=0___dump_index=1___name=y____layer_id=2.pt")->identity() ==
        "layer_id=2 name=y_");
  for (const char* other :
       {"step=0___rank=0___dump_index=1.pt", "rank=0___dump_index=1___name=a.pt",
        "step=-1___rank=0___dump_index=1___name=a.pt",
        "step=0___rank=0___dump_index=1___name=a.npy",
        "step=0___step=0___rank=0___dump_index=1___name=a.pt", "___.pt", ".pt", "weights.pt",
        "step=0___rank=99999999999___dump_index=1___name=a.pt"}) {
    CHECK_FALSE(parse_sglang_name(other));
  }
}

/// A file of rows of the numbers 0, 1, 2...: elements [from, from + rows * columns).
std::string values(std::int64_t from, std::int64_t rows, std::int64_t columns,
                   std::int64_t stride) {
  return tensor({"FloatStorage", "0", 64, from, {rows, columns}, {stride, 1}});
}

std::string meta(std::int64_t rank, const std::string& dims) {
  const std::string info = dict({{"tp_rank", integer(rank)},
                                 {"tp_size", integer(2)},
                                 {"attn_tp_rank", integer(rank)},
                                 {"attn_tp_size", integer(2)},
                                 {"pp_rank", integer(0)},
                                 {"pp_size", integer(1)},
                                 {"tp_src_rank", integer(0)}});
  return dict({{"dims", text(dims)}, {"sglang_parallel_info", info}});
}

std::string dumped(const std::string& value, const std::string& about) {
  return tests::archive(dict({{"value", value}, {"meta", about}}));
}

std::string file_name(int rank, const std::string& name) {
  return "step=0___rank=" + std::to_string(rank) + "___dump_index=1___name=" + name + ".pt";
}

Verdict diff_of(const TempDir& reference, const TempDir& candidate) {
  cli::Options options;
  options.words = {reference.path(), candidate.path()};
  return cli::diff(options);
}

TEST_CASE("parallel info gives the mesh once, and dims may use any of its words") {
  const TempDir dir, whole;
  for (const int rank : {0, 1}) {
    dir.write(file_name(rank, "y"), dumped(values(rank * 2, 3, 2, 4), meta(rank, "b h[attn_tp]")));
  }
  whole.write(file_name(0, "y"), tests::archive(values(0, 3, 4, 4)));
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(run->format == "sglang-dump");
  CHECK(run->trace);
  CHECK(run->mesh.axes == std::vector<Axis>{{"tp", 2}});
  CHECK(run->mesh.expert_axes.empty());
  const Verdict verdict = diff_of(whole, dir);
  CHECK(verdict.outcome == Outcome::equal);
  CHECK(verdict.coverage.paired == 1);
}

TEST_CASE("F9: a batch whose parts lie as nothing states is not said to differ") {
  const auto words = [](std::int64_t from, std::int64_t count) {
    return tests::archive(tensor({"LongStorage", "0", 32, from, {count}, {1}}));
  };
  const TempDir whole, turned, other;
  whole.write(file_name(0, "input_ids"), words(0, 8));
  turned.write(file_name(0, "input_ids"), words(4, 4));
  turned.write(file_name(1, "input_ids"), words(0, 4));
  const Verdict verdict = diff_of(whole, turned);
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(verdict.reason == "nothing states how ranks hold the batch");
  CHECK(std::ranges::count(verdict.findings, Code::data_replay, &Finding::code) == 0);
  other.write(file_name(0, "input_ids"), words(8, 8));
  CHECK(diff_of(whole, other).reason == "the batch differs");
}

TEST_CASE("F3 what was computed again on the way back is another copy") {
  const TempDir same, other;
  for (const TempDir* dir : {&same, &other}) {
    for (int i = 0; i < 2; ++i) {
      const std::string file =
          "step=0___rank=0___dump_index=" + std::to_string(i + 1) +
          "___name=h___recompute_status=" + (i == 0 ? "original" : "recompute");
      const int from = dir == &other ? i : 0;
      dir->write(file + ".pt", tests::archive(values(from, 3, 4, 4)));
    }
  }
  const auto mismatches = [](const Verdict& verdict) {
    return std::ranges::count(verdict.findings, Code::replica_mismatch, &Finding::code);
  };
  const Verdict clean = diff_of(same, same);
  CHECK(clean.outcome == Outcome::equal);
  CHECK(clean.coverage.paired == 1);
  CHECK(mismatches(clean) == 0);
  const Verdict wrong = diff_of(other, other);
  CHECK(wrong.complete);
  CHECK(mismatches(wrong) > 0);
}

TEST_CASE("F2 a number that is no tensor is compared") {
  const TempDir a, b;
  for (const TempDir* dir : {&a, &b}) {
    dir->write(file_name(0, "y"), tests::archive(values(0, 3, 4, 4)));
    dir->write(file_name(0, "sm_scale"), tests::archive(dir == &a ? "F0.125\n" : "F0.25\n"));
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(verdict.outcome == Outcome::equal);
  const auto told = std::ranges::find(verdict.findings, Code::config, &Finding::code);
  REQUIRE(told != verdict.findings.end());
  CHECK(told->severity == Severity::error);  // all else is equal
}

TEST_CASE("what no dims line says follows from the other side's shapes, or is a sum") {
  const TempDir whole, cut, wrong;
  whole.write(file_name(0, "y"), tests::archive(values(0, 3, 4, 4)));
  for (const int rank : {0, 1}) {
    cut.write(file_name(rank, "y"), tests::archive(values(rank * 2, 3, 2, 4)));
    wrong.write(file_name(rank, "y"), tests::archive(values(2 - rank * 2, 3, 2, 4)));
  }
  for (const auto& [reference, candidate] : {std::pair(&whole, &cut), {&cut, &whole}}) {
    const Verdict verdict = diff_of(*reference, *candidate);
    CHECK(verdict.outcome == Outcome::equal);
    CHECK(verdict.complete);
    CHECK(verdict.findings.back().severity == Severity::note);
  }
  CHECK(diff_of(whole, wrong).outcome == Outcome::diverged);
  // A rank with nothing beside one that has all: no sum, though it fits.
  const std::string zeros = tests::archive(tensor({"FloatStorage", "0", 64, 0, {3, 4}, {0, 0}}));
  for (const int right : {0, 1}) {
    const TempDir dead;
    dead.write(file_name(right, "y"), tests::archive(values(0, 3, 4, 4)));
    dead.write(file_name(1 - right, "y"), zeros);
    CHECK(diff_of(whole, dead).outcome == Outcome::diverged);
    CHECK(diff_of(dead, whole).outcome == Outcome::diverged);
  }
  // Rows of 1, 1, 1... make rows of 2, 2, 2...
  const auto rows_of = [](std::int64_t value) {
    return tests::archive(tensor({"FloatStorage", "0", 64, value, {3, 4}, {0, 0}}));
  };
  const TempDir two, ones, threes;
  two.write(file_name(0, "y"), rows_of(2));
  for (const int rank : {0, 1}) {
    ones.write(file_name(rank, "y"), rows_of(1));
    threes.write(file_name(rank, "y"), rows_of(rank * 2));  // 0 and 2: one is right by itself
  }
  CHECK(diff_of(two, ones).outcome == Outcome::diverged);  // copies agree, so they are copies
  CHECK(diff_of(two, threes).outcome == Outcome::diverged);
  const TempDir parts, four;
  parts.write(file_name(0, "y"), rows_of(1));
  parts.write(file_name(1, "y"), rows_of(3));
  four.write(file_name(0, "y"), rows_of(4));
  const Verdict sum = diff_of(four, parts);
  CHECK(sum.outcome == Outcome::equal);
  CHECK(sum.tally.casts.contains("sum over ranks"));
  CHECK(sum.findings.front().severity == Severity::warning);
}

TEST_CASE("what no dims line says on either side is compared rank by rank") {
  const TempDir columns, other;
  for (const int rank : {0, 1}) {
    columns.write(file_name(rank, "y"), tests::archive(values(rank * 2, 3, 2, 4)));
    other.write(file_name(rank, "y"), tests::archive(values(rank * 3, 3, 2, 4)));
  }
  CHECK(diff_of(columns, columns).outcome == Outcome::equal);
  const Verdict verdict = diff_of(columns, other);
  CHECK(verdict.outcome == Outcome::diverged);
  REQUIRE(verdict.first);
  CHECK(verdict.first->ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("a value that is no tensor is compared, or said") {
  const TempDir lists, others, words, nothing;
  const auto listed = [](std::int64_t from) {
    return dumped(list({values(0, 2, 2, 2), values(from, 2, 2, 2)}), meta(0, "a b"));
  };
  lists.write(file_name(0, "y"), listed(4));
  others.write(file_name(0, "y"), listed(5));
  CHECK(diff_of(lists, lists).coverage.paired == 2);
  CHECK(diff_of(lists, others).outcome == Outcome::diverged);
  lists.write(file_name(0, "n"), tests::archive(integer(3)));
  words.write(file_name(0, "y"), listed(4));
  words.write(file_name(0, "n"), tests::archive(integer(4)));
  CHECK(std::ranges::any_of(diff_of(lists, words).findings,
                            [](const Finding& one) { return one.code == Code::config; }));
  nothing.write(file_name(0, "y"), tests::archive(dict({{"meta", meta(0, "a b")}})));
  CHECK_FALSE(diff_of(nothing, nothing).complete);
}

TEST_CASE("ranks that the mesh has and no dump has are missing") {
  const TempDir dir;
  dir.write(file_name(0, "y"), dumped(values(0, 3, 4, 4), meta(0, "b h # tp:replicated")));
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(run->mesh.world_size() == 2);
  CHECK(run->open(0).missing_ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("folders of ranks with a file a pass are sglang-pass") {
  const TempDir dir, whole;
  for (const int rank : {0, 1}) {
    const std::string folder = "TP" + std::to_string(rank) + "_PP0_Rank" + std::to_string(rank) +
                               "_pid40" + std::to_string(rank);
    dir.write(folder + "/Pass00001.pt",
              tests::archive(dict({{"model.y", values(rank * 2, 3, 2, 4)},
                                   {"model.z", list({values(0, 2, 2, 2), values(4, 2, 2, 2)})}})));
  }
  whole.write("TP0_PP0_Rank0_pid1/Pass00001.pt",
              tests::archive(dict({{"model.y", values(0, 3, 4, 4)},
                                   {"model.z", list({values(0, 2, 2, 2), values(4, 2, 2, 2)})}})));
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(run->format == "sglang-pass");
  CHECK(run->mesh.axes == std::vector<Axis>{{"tp", 2}});
  CHECK(run->steps == std::vector<std::optional<std::int64_t>>{1});
  const Verdict verdict = diff_of(whole, dir);
  CHECK(verdict.outcome == Outcome::equal);
  CHECK(verdict.coverage.paired == 3);
}

}  // namespace
}  // namespace ttcheck::formats
