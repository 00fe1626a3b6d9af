// SPDX-License-Identifier: Apache-2.0
// Rank files with a layout, through the door of the room.

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/open.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::small_safetensors;
using tests::TempDir;

constexpr const char* kLayout = R"(layout = 1
[mesh]
axes = ["pp=2", "dp=2", "tp=2"]
[files]
pattern = "s{step}/p{pp}_t{tp}.safetensors"
root = "model"
[model]
layers = 4
[[tensor]]
match = "**.weight"
dims = "x[tp]"
shape = [4]
[[rename]]
match = "layers.{l}.**"
to = "layers.{l + first_layer(pp,vpp)}.**"
)";

Run opened(const std::string& path, const OpenOptions& options = {}) {
  Result<Run> run = open(path, options);
  if (!run) FAIL(run.error().what());
  return std::move(*run);
}

bool says(const std::vector<Finding>& findings, std::string_view text) {
  return std::ranges::any_of(
      findings, [&](const Finding& one) { return one.message.find(text) != std::string::npos; });
}

void write_ranks(const TempDir& dir, std::string_view name = "model.layers.1.weight") {
  for (const char* rank : {"p0_t0", "p0_t1", "p1_t0", "p1_t1"}) {
    dir.write(std::string("s7/") + rank + ".safetensors", small_safetensors(name));
  }
}

TEST_CASE("ranks, steps, global names and placements come from the layout inside") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir);
  const Run run = opened(dir.path());
  CHECK(run.format == "rank-files");
  CHECK(run.mesh.axes == std::vector<Axis>{{"pp", 2}, {"dp", 2}, {"tp", 2}});
  CHECK(run.steps == std::vector<std::optional<std::int64_t>>{7});
  const Fact* layers = find_fact(run.facts, "model.layers");
  REQUIRE(layers != nullptr);
  CHECK(layers->value == FactValue(std::int64_t{4}));
  const State state = run.open(0);
  CHECK(state.findings.empty());
  CHECK(
      state.missing_ranks.empty());  // the pattern does not name dp: its first ranks write for all
  CHECK(state.silent_ranks == std::vector<std::int32_t>{2, 3, 6, 7});
  REQUIRE(state.records.size() == 4);
  CHECK(state.records[0].identity.name == "layers.1.weight");
  CHECK(state.records[3].identity.name == "layers.3.weight");
  CHECK(state.records[3].piece.rank == 5);
  CHECK(coordinate(state.records[3].at, "pp") == 1);
  CHECK(coordinate(state.records[3].at, "tp") == 1);
  CHECK(state.records[3].logical == Shape{4});
  REQUIRE(state.records[3].placement);
  CHECK(*state.records[3].placement == parse_dims("x[tp]"));
}

TEST_CASE("a missing or damaged rank's file is named, the others are read") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir);
  dir.write("s7/p1_t1.safetensors", "junk");
  dir.write("s7/p2_t0.safetensors", small_safetensors());
  std::filesystem::remove(dir.path("s7/p0_t1.safetensors"));
  const Run run = opened(dir.path());
  CHECK(says(run.findings, "outside of the mesh"));
  const State state = run.open(0);
  CHECK(state.records.size() == 2);
  CHECK(state.missing_ranks == std::vector<std::int32_t>{1});
  REQUIRE(state.unreadable_ranks.size() == 1);
  const Error& error = state.unreadable_ranks.at(5);
  CHECK(error.where().file == dir.path("s7/p1_t1.safetensors"));
  CHECK(error.message().find("no known format") != std::string::npos);
  CHECK(state.findings.empty());
}

TEST_CASE("two files of one rank: the later is named, the rank is there") {
  const TempDir dir;
  dir.write("layout.toml",
            "layout = 1\n[mesh]\naxes = [\"dp=1\"]\n[files]\npattern = \"r_{rank}.safetensors\"\n");
  dir.write("r_0.safetensors", small_safetensors());
  dir.write("r_00.safetensors", small_safetensors());
  const State state = opened(dir.path()).open(0);
  CHECK(state.records.size() == 1);
  CHECK(state.unreadable_ranks.empty());
  CHECK(state.missing_ranks.empty());
  CHECK(state.unreadable == 1);
  CHECK(says(state.findings, "rank 0 has another file too"));
}

TEST_CASE("a mesh of a million ranks and one file: the first missing ranks are listed") {
  const TempDir dir;
  dir.write("layout.toml",
            "layout = 1\n[mesh]\naxes = [\"dp=1000000\"]\n[files]\npattern = "
            "\"r_{rank}.safetensors\"\n");
  dir.write("r_0.safetensors", small_safetensors());
  const State state = opened(dir.path()).open(0);
  CHECK(state.missing_ranks.size() == kMaxRanksListed);
  CHECK(state.missing_ranks.front() == 1);
}

TEST_CASE("FS07 a rank's file that vanished after it was listed is named, the others are read") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir);
  const Run run = opened(dir.path());
  std::filesystem::remove(dir.path("s7/p0_t1.safetensors"));
  const State state = run.open(0);
  CHECK(state.records.size() == 3);
  REQUIRE(state.unreadable_ranks.size() == 1);
  CHECK(state.unreadable_ranks.at(1).message().find("No such file") != std::string::npos);
}

TEST_CASE("names that look like the root stay when the torch reader has dropped it already") {
  const TempDir dir;
  dir.write("layout.toml",
            "layout = 1\n[mesh]\naxes = [\"tp=2\"]\n[files]\npattern = \"r{tp}.pt\"\n"
            "root = \"model\"\n[[tensor]]\nmatch = \"**\"\ndims = \"x[tp] y\"\n");
  namespace pickled = tests::pickled;
  const auto write = [&](const std::string& parameters) {
    const std::string bytes = tests::torch_archive(pickled::dict({{"model", parameters}}));
    for (const char* rank : {"r0.pt", "r1.pt"}) dir.write(rank, bytes);
  };
  const auto names = [&] {
    std::vector<std::string> found;
    const State state = opened(dir.path()).open(0);
    CHECK(state.findings.empty());
    for (const Record& record : state.records) found.push_back(record.identity.name);
    std::ranges::sort(found);
    return found;
  };
  const std::string tensor = pickled::tensor({});
  write(pickled::dict({{"model.layers.0.w", tensor}, {"lm_head.weight", tensor}}));
  CHECK(names() == std::vector<std::string>{"lm_head.weight", "lm_head.weight", "model.layers.0.w",
                                            "model.layers.0.w"});
  write(pickled::dict({{"layers.0.w", tensor}, {"lm_head.weight", tensor}}));
  CHECK(names() ==
        std::vector<std::string>{"layers.0.w", "layers.0.w", "lm_head.weight", "lm_head.weight"});
}

TEST_CASE("a sharded name without a rule is reported and left out, so is a rule without a name") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir, "model.layers.1.bias");
  const State state = opened(dir.path()).open(0);
  CHECK(state.records.empty());
  CHECK(state.unreadable == 2);
  CHECK(says(state.findings, "**.weight"));
  CHECK(std::ranges::count(state.findings, Severity::error, &Finding::severity) == 2);
}

TEST_CASE("tensors outside of the root are left out with a note") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir);
  const std::string two = tests::safetensors_of(
      R"({"model.layers.0.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("other.layers.0.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      "abcdefgh");
  dir.write("s7/p0_t0.safetensors", two);
  const State state = opened(dir.path()).open(0);
  CHECK(state.records.size() == 4);
  REQUIRE(says(state.findings, "1 tensors lie outside of model"));
}

TEST_CASE("a layout of the user serves the run whose files match, over the one inside") {
  const TempDir dir;
  dir.write("layout.toml", kLayout);
  write_ranks(dir);
  Layout layout = parse_layout(
      "layout = 1\n[mesh]\naxes = [\"pp=2\", \"tp=2\"]\n[files]\npattern = "
      "\"s7/p{pp}_t{tp}.safetensors\"\n"
      "[[tensor]]\nmatch = \"**\"\ndims = \"x[tp]\"\n",
      "mine.toml");
  OpenOptions options;
  options.layouts = {layout};
  const Run run = opened(dir.path(), options);
  CHECK(run.format == "rank-files");
  CHECK(run.steps == std::vector<std::optional<std::int64_t>>{std::nullopt});
  CHECK(run.open(0).records[3].identity.name == "model.layers.1.weight");
  CHECK(run.open(0).records[3].piece.rank == 3);
}

TEST_CASE("a layout that cannot be parsed is the error of the run") {
  const TempDir dir;
  dir.write("layout.toml", "layout = 2\n");
  write_ranks(dir);
  const Result<Run> run = open(dir.path());
  REQUIRE(!run);
  CHECK(run.error().where().file.ends_with("layout.toml"));
}

constexpr const char* kTorchLayout = R"(layout = 1
[mesh]
axes = ["tp=2"]
[files]
pattern = "tp_{tp}.pt"
[[tensor]]
match = "**"
dims = "x[tp] y"
)";

/// A rank's file with its counter.
std::string torch_rank(const std::string& saved_as, std::int64_t iteration) {
  namespace pickled = tests::pickled;
  return tests::torch_archive(pickled::dict({{"model", pickled::dict({{"w", pickled::tensor({})}})},
                                             {"iteration", pickled::integer(iteration)}}),
                              tests::kStorage, {}, saved_as);
}

void write_ranks(const TempDir& dir, const std::string& first, const std::string& second) {
  dir.write("layout.toml", kTorchLayout);
  dir.write("tp_0.pt", first);
  dir.write("tp_1.pt", second);
}

TEST_CASE("rank files that were exchanged say so, renamed ones do not") {
  const TempDir dir;
  write_ranks(dir, torch_rank("tp_1", 4), torch_rank("tp_0", 4));
  const State state = opened(dir.path()).open(0);
  CHECK(says(state.findings, "is named as rank 0's and was written by rank 1"));
  CHECK(says(state.findings, "is named as rank 1's and was written by rank 0"));
  CHECK(state.records.size() == 2);
  const TempDir renamed;
  write_ranks(renamed, torch_rank("shard-1", 4), torch_rank("shard-2", 4));
  CHECK(opened(renamed.path()).open(0).findings.empty());
}

TEST_CASE("rank files of different steps say so") {
  const TempDir dir;
  write_ranks(dir, torch_rank("tp_0", 4), torch_rank("tp_1", 5));
  const State state = opened(dir.path()).open(0);
  REQUIRE(state.findings.size() == 2);  // nothing tells which of the two is right
  for (const std::int32_t rank : {0, 1}) {
    const Finding& finding = state.findings[static_cast<std::size_t>(rank)];
    CHECK(finding.code == Code::mixed_step);
    CHECK(finding.ranks == std::vector<std::int32_t>{rank});
  }
}

}  // namespace
}  // namespace ttcheck::formats
