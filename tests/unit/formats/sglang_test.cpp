#include <doctest/doctest.h>

#include <string>

#include "cli/diff.hpp"
#include "formats/formats.hpp"
#include "formats/sglang_name.hpp"
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
  CHECK(parse_sglang_name("forward_pass_id=1___rank=0___name=x=y___z___dump_index=2.pt")->name ==
        "x=y___z");
  CHECK(parse_sglang_name("step=0___rank=0___dump_index=1___name=a___recompute_status=disabled.pt")
            ->identity() == "name=a");
  CHECK(parse_sglang_name("step=0___rank=0___dump_index=1___name=a___recompute_status=again.pt")
            ->identity() == "name=a recompute_status=again");
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

TEST_CASE("what no dims line says follows from the other side's shapes, or is a sum") {
  const TempDir whole, cut, sums, wrong;
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
  // 0, 1, 2... is the sum of itself and of a row of nothing.
  sums.write(file_name(0, "y"), tests::archive(values(0, 3, 4, 4)));
  sums.write(file_name(1, "y"),
             tests::archive(tensor({"FloatStorage", "0", 64, 0, {3, 4}, {0, 0}})));
  CHECK(diff_of(sums, whole).outcome == Outcome::diverged);  // copies that differ
  const TempDir halves;
  halves.write(file_name(0, "y"), tests::archive(values(1, 3, 4, 4)));  // y + 1
  halves.write(file_name(1, "y"), tests::archive(values(0, 3, 4, 4)));
  CHECK(diff_of(whole, halves).outcome == Outcome::diverged);
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
