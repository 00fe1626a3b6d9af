// SPDX-License-Identifier: Apache-2.0
// FSDP's rank files through the door of the room: which files belong together, and what each of
// them says of itself.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "formats/open.hpp"
#include "tests/support/distributed_pickle.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::TempDir;
using tests::torch_archive;

/// Rank `rank` of two: w is [4, 2], cut in rows.
std::string weight(std::int64_t rank) {
  return dtensor(numbers({4, 2}), mesh({{2, 1}}, tuple({text("dp")}), 2, integer(rank)),
                 tuple({shard(0)}), tensor({}));
}

std::string model_of(std::int64_t rank) { return torch_archive(dict({{"w", weight(rank)}})); }

std::string optimizer_of(std::int64_t rank, std::int64_t step) {
  const std::string state =
      "}(" + integer(0) + dict({{"exp_avg", weight(rank)}, {"step", integer(step)}}) + "u";
  return torch_archive(
      dict({{"state", state},
            {"param_groups", list({dict({{"lr", integer(1)}, {"params", list({integer(0)})}})})}}));
}

std::string extra_of(std::int64_t epoch) {
  return torch_archive(dict({{"lr_scheduler", dict({{"last_epoch", integer(epoch)}})},
                             {"rng", dict({{"cpu", tensor({})}})}}));
}

std::string file_name(std::string_view role, int rank, int world = 2) {
  return std::string(role) + "_world_size_" + std::to_string(world) + "_rank_" +
         std::to_string(rank) + ".pt";
}

void write_models(const TempDir& dir) {
  for (int rank = 0; rank < 2; ++rank) dir.write(file_name("model", rank), model_of(rank));
}

Run opened(const TempDir& dir) {
  Result<Run> run = open(dir.path());
  if (!run) FAIL(run.error().what());
  return std::move(*run);
}

const Finding* finding(const std::vector<Finding>& findings, Code code, std::string_view text) {
  const auto found = std::ranges::find_if(findings, [&](const Finding& one) {
    return one.code == code && one.message.find(text) != std::string::npos;
  });
  return found == findings.end() ? nullptr : &*found;
}

TEST_CASE("ranks' files make one run on the mesh that their tensors name") {
  const TempDir dir;
  write_models(dir);
  for (int rank = 0; rank < 2; ++rank) {
    dir.write(file_name("optim", rank), optimizer_of(rank, 3));
    dir.write(file_name("extra_state", rank), extra_of(3));
  }
  dir.write("fsdp_config.json", R"({"FSDP_version": 2, "world_size": 2})");
  const Run run = opened(dir);
  CHECK(run.format == "fsdp-rank-files");
  CHECK(run.mesh.axes == std::vector<Axis>{{"dp", 2}});
  const State state = run.open(0);
  CHECK(state.findings.empty());
  CHECK(state.missing_ranks.empty());
  REQUIRE(state.records.size() == 4);
  CHECK(state.records[1].identity.name == "w@exp_avg");
  CHECK(state.records[3].piece.rank == 1);
  CHECK(state.records[3].logical == Shape{4, 2});
  CHECK(state.records[3].at == Coordinates{{"dp", 1}});
  CHECK(to_string(*state.records[3].placement) == "d0[dp] d1");
  CHECK(find_fact(state.facts, "rng.cpu") != nullptr);
  CHECK(find_fact(state.facts, "optimizer.groups.0.lr") != nullptr);
}

TEST_CASE("a rank without a file is missing, of whatever role") {
  const TempDir dir;
  dir.write(file_name("model", 1), model_of(1));
  for (int rank = 0; rank < 2; ++rank) dir.write(file_name("optim", rank), optimizer_of(rank, 3));
  dir.write(file_name("extra_state", 0), extra_of(3));
  const State state = opened(dir).open(0);
  CHECK(state.missing_ranks == std::vector<std::int32_t>{0});
  const Finding* extra = finding(state.findings, Code::missing_rank, "not there");
  REQUIRE(extra != nullptr);
  CHECK(extra->ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("a damaged file is its rank's, and the others are read") {
  const TempDir dir;
  write_models(dir);
  dir.write(file_name("model", 0), "PK\3\4");
  const Run run = opened(dir);
  CHECK(run.mesh.axes == std::vector<Axis>{{"dp", 2}});
  const State state = run.open(0);
  CHECK(state.unreadable_ranks.contains(0));
  CHECK(state.records.size() == 1);
}

TEST_CASE("files that were exchanged say so, where they know their rank") {
  const TempDir dir;
  dir.write(file_name("model", 0), model_of(1));
  dir.write(file_name("model", 1), model_of(0));
  const State state = opened(dir).open(0);
  CHECK(finding(state.findings, Code::mixed_step, "was written by rank 1") != nullptr);
  CHECK(finding(state.findings, Code::mixed_step, "was written by rank 0") != nullptr);
}

/// Rank `rank` of two by the file's name alone.
std::string nameless(std::int64_t rank, const std::string& saved_as) {
  return torch_archive(dict({{"w", dtensor(numbers({4, 2}), mesh({{2, 1}}, tuple({text("dp")}), 2),
                                           tuple({shard(0)}), tensor({}))},
                             {"epoch", integer(rank)}}),
                       tests::kStorage, {}, saved_as);
}

TEST_CASE("files that were exchanged are told by the name that they were written as") {
  const TempDir dir;
  dir.write(file_name("model", 0), nameless(1, "model_world_size_2_rank_1"));
  dir.write(file_name("model", 1), nameless(0, "model_world_size_2_rank_0"));
  const State state = opened(dir).open(0);
  const Finding* said = finding(state.findings, Code::mixed_step, "was written by rank 1");
  REQUIRE(said != nullptr);
  CHECK(said->ranks == std::vector<std::int32_t>{0});
  CHECK(finding(state.findings, Code::mixed_step, "was written by rank 0") != nullptr);
  for (const char* harmless : {"archive", "shard_1", "model_world_size_2_rank_0"}) {
    dir.write(file_name("model", 0), nameless(0, harmless));
    const State renamed = opened(dir).open(0);
    CHECK(finding(renamed.findings, Code::mixed_step, "was written by rank 1") == nullptr);
  }
}

TEST_CASE("a missing model file is said beside an optimizer that cannot be read") {
  const TempDir dir;
  dir.write(file_name("model", 1), model_of(1));
  dir.write(file_name("optim", 0), "PK\3\4");
  dir.write(file_name("optim", 1), optimizer_of(1, 3));
  const State state = opened(dir).open(0);
  CHECK(state.unreadable_ranks.contains(0));
  const Finding* said = finding(state.findings, Code::missing_rank, "not there");
  REQUIRE(said != nullptr);
  CHECK(said->ranks == std::vector<std::int32_t>{0});
  CHECK(said->where->file == dir.path(file_name("model", 0)));
}

TEST_CASE("an optimizer whose model file is missing takes the names from another rank") {
  const TempDir dir;
  dir.write(file_name("model", 1), model_of(1));
  for (int rank = 0; rank < 2; ++rank) dir.write(file_name("optim", rank), optimizer_of(rank, 3));
  const State state = opened(dir).open(0);
  CHECK(std::ranges::count_if(state.records, [](const Record& record) {
          return record.identity.name == "w@exp_avg";
        }) == 2);
}

TEST_CASE("files of another number of ranks are left over from another save") {
  const TempDir dir;
  write_models(dir);
  dir.write(file_name("model", 0, 4), model_of(0));
  dir.write("fsdp_config.json", R"({"world_size": 2})");
  const Run run = opened(dir);
  CHECK(finding(run.findings, Code::mixed_step, "of another number of ranks") != nullptr);
  CHECK(run.open(0).bytes_unclaimed > 0);
}

TEST_CASE("a file that was written in a larger world says so") {
  const TempDir dir;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string part = sharded(numbers({4, 2}), list({integer(2 * rank), integer(0)}),
                                     numbers({2, 2}), tensor({}), rank, rank == 0 ? 2 : 8);
    dir.write(file_name("model", rank), torch_archive(dict({{"w", part}})));
  }
  const Run run = opened(dir);
  CHECK(run.mesh.axes == std::vector<Axis>{{"dp", 2}});
  const Finding* said = finding(run.open(0).findings, Code::mixed_step, "was written by one of 8");
  CHECK(said != nullptr);
}

TEST_CASE("ranks whose counters differ are of different steps") {
  const TempDir dir;
  write_models(dir);
  for (int rank = 0; rank < 2; ++rank) dir.write(file_name("extra_state", rank), extra_of(rank));
  const State state = opened(dir).open(0);
  for (const int rank : {0, 1}) {  // nothing tells which of two is right
    const Finding* mixed = finding(state.findings, Code::mixed_step,
                                   fmt::format("on rank {}, and another one on as many", rank));
    REQUIRE(mixed != nullptr);
    CHECK(mixed->ranks == std::vector<std::int32_t>{rank});
  }
}

TEST_CASE("plain tensors of several ranks are not placed by guessing") {
  const TempDir dir;
  for (int rank = 0; rank < 2; ++rank) {
    dir.write(file_name("model", rank), torch_archive(dict({{"w", tensor({})}})));
  }
  const State state = opened(dir).open(0);
  CHECK(state.records.empty());
  CHECK(state.unreadable == 1);
  CHECK(finding(state.findings, Code::unreadable, "a layout file with pattern") != nullptr);
}

TEST_CASE("plain tensors of one rank, or beside distributed ones, are whole") {
  const TempDir dir;
  dir.write(file_name("model", 0, 1), torch_archive(dict({{"w", tensor({})}})));
  CHECK(opened(dir).open(0).records.size() == 1);
  const TempDir mixed;
  for (int rank = 0; rank < 2; ++rank) {
    mixed.write(file_name("model", rank),
                torch_archive(dict({{"w", weight(rank)}, {"buffer", tensor({})}})));
  }
  CHECK(opened(mixed).open(0).records.size() == 4);
}

TEST_CASE("files with the number of a rank in any name are a run where tensors are distributed") {
  for (const char* before : {"rank_", "ckpt-rank", "model.rank-"}) {
    const TempDir dir;
    for (int rank = 0; rank < 2; ++rank) {
      dir.write(before + std::to_string(rank) + ".pt", model_of(rank));
    }
    const Run run = opened(dir);
    CHECK(run.format == "fsdp-rank-files");
    CHECK(run.mesh.axes == std::vector<Axis>{{"dp", 2}});
    const State state = run.open(0);
    CHECK(state.records.size() == 2);
    CHECK(state.findings.empty());
  }
  const TempDir last;
  last.write("rank_0.pt", model_of(0));
  CHECK(opened(last).open(0).missing_ranks == std::vector<std::int32_t>{1});
  const TempDir plain;
  for (int rank = 0; rank < 2; ++rank) {
    plain.write("rank_" + std::to_string(rank) + ".pt", torch_archive(dict({{"w", tensor({})}})));
  }
  CHECK(opened(plain).format != "fsdp-rank-files");
}

TEST_CASE("of several sets of files that a rank's number names, none is the run") {
  for (const std::vector<const char*>& names :
       {std::vector{"ema_rank_0.pt", "ema_rank_1.pt", "model_rank_0.pt", "model_rank_1.pt"},
        std::vector{"rank_0.pt", "rank_1.pt", "rank_01.pt"}}) {
    const TempDir dir;
    for (const std::string name : names) dir.write(name, model_of(name.ends_with("0.pt") ? 0 : 1));
    CHECK(opened(dir).format != "fsdp-rank-files");
  }
  const TempDir twice;
  write_models(twice);
  twice.write("model_world_size_2_rank_00.pt", model_of(0));
  const Run run = opened(twice);
  const Finding* further = finding(run.findings, Code::unreadable, "more files than one of a rank");
  REQUIRE(further != nullptr);
  CHECK(further->incomplete);
}

TEST_CASE("counters are held against each other whatever the files' names") {
  const TempDir dir;
  for (int rank = 0; rank < 2; ++rank) {
    dir.write("rank_" + std::to_string(rank) + ".pt",
              torch_archive(dict({{"w", weight(rank)}, {"global_step", integer(rank + 3)}})));
  }
  CHECK(finding(opened(dir).open(0).findings, Code::mixed_step, "global_step"));
}

TEST_CASE("a mesh with more positions than ranks is refused") {
  const std::string wide = dtensor(
      numbers({4, 2}), mesh({{2, 1}, {2, 1}}, tuple({text("dp"), text("tp")}), 2, integer(0)),
      tuple({shard(0), shard(0)}), tensor({}));
  const TempDir dir;
  dir.write(file_name("model", 0), torch_archive(dict({{"w", wide}})));
  const State state = opened(dir).open(0);
  CHECK(finding(state.findings, Code::unreadable, "device mesh of 2 ranks has an axis of 2"));
}

TEST_CASE("names that only look like it are not its files") {
  const TempDir dir;
  for (const char* name : {"model_world_size_2_rank_2.pt", "model_world_size_0_rank_0.pt",
                           "model_world_size_2_rank_-1.pt", "model_world_size_2_rank_0.bin"}) {
    dir.write(name, model_of(0));
  }
  const Result<Run> run = open(dir.path());
  CHECK((!run || run->format != "fsdp-rank-files"));
}

}  // namespace
}  // namespace ttcheck::formats
