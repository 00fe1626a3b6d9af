// SPDX-License-Identifier: Apache-2.0
// Pipelines without names of their parameters: layers by stage, and what ds_to_universal leaves.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::ModelStates;
using tests::row;
using tests::TempDir;
namespace pickled = tests::pickled;

struct Opened {
  explicit Opened(const std::string& path) {
    Result<Run> found = open(path);
    if (!found) throw found.error();
    run = std::move(*found);
    state = run.open(0);
  }

  std::vector<const Record*> of(std::string_view name) const {
    std::vector<const Record*> found;
    for (const Record& record : state.records) {
      if (record.identity.name == name) found.push_back(&record);
    }
    return found;
  }

  bool says(Code code) const {
    return std::ranges::count(state.findings, code, &Finding::code) > 0;
  }

  Run run;
  State state;
};

constexpr const char* kModel = "tag/mp_rank_00_model_states.pt";

float first_float(const Record& record) {
  std::byte bytes[4];
  record.piece.source->read(record.piece.offset, bytes);
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

TEST_CASE("deepspeed: ZeRO 0, the layers of a pipeline are dealt out to its stages") {
  const TempDir folder;
  ModelStates model;
  model.module = model.shapes = "N";
  model.stage = 0;
  model.ranks = 1;
  model.mp = 2;
  const auto write = [&](const char* name, std::int64_t first, std::int64_t second) {
    const auto moment = [](std::int64_t at, std::int64_t count) {
      return pickled::dict({{"exp_avg", row(at, count)}});
    };
    model.optimizer = tests::base_state(moment(first, 3), moment(second, 2));
    folder.write(name, model.file());
  };
  write(kModel, 20, 30);
  write("tag/mp_rank_01_model_states.pt", 20, 40);  // the first layer is tied
  folder.write("tag/layer_00-model_states.pt", archive(pickled::dict({{"weight", row(0, 3)}})));
  folder.write("tag/layer_01-model_states.pt", archive(pickled::dict({{"weight", row(3, 2)}})));
  folder.write("tag/layer_02-model_states.pt", archive(pickled::dict({{"weight", row(5, 2)}})));
  const Opened made(folder.path("tag"));
  CHECK(made.of("0.weight@exp_avg").size() == 2);
  REQUIRE(made.of("1.weight@exp_avg").size() == 1);
  CHECK(first_float(*made.of("1.weight@exp_avg")[0]) == 30);
  REQUIRE(made.of("2.weight@exp_avg").size() == 1);
  CHECK(first_float(*made.of("2.weight@exp_avg")[0]) == 40);
  CHECK(made.of("2.weight@exp_avg")[0]->piece.rank == 1);
  std::filesystem::remove(folder.path(kModel));
  const Opened half(folder.path("tag"));
  CHECK(half.of("1.weight@exp_avg").empty());
  CHECK(half.says(Code::name_mapping));
}

/// The model_states of a pipeline without ZeRO, a file for each stage's optimizer.
void write_stages(const TempDir& folder, const std::vector<std::string>& optimizers) {
  ModelStates model;
  model.module = model.shapes = "N";
  model.stage = 0;
  model.ranks = 1;
  model.mp = std::ssize(optimizers);
  for (std::size_t s = 0; s < optimizers.size(); ++s) {
    model.optimizer = optimizers[s];
    folder.write("tag/mp_rank_0" + std::to_string(s) + "_model_states.pt", model.file());
  }
}

/// FP16_Optimizer with one group: its masters are `row`, its moment as long at `moment`.
std::string flat_optimizer(std::int64_t at, std::int64_t count, std::int64_t moment) {
  const std::string state = pickled::dict({{"exp_avg", row(moment, count)}});
  const std::string inner = pickled::dict(
      {{"state", pickled::dict({{"0", state}})},
       {"param_groups",
        pickled::list({pickled::dict({{"params", pickled::list({pickled::integer(0)})}})})}});
  return pickled::dict(
      {{"optimizer_state_dict", inner}, {"fp32_groups_flat", pickled::list({row(at, count)})}});
}

TEST_CASE("deepspeed: ZeRO 0, flat groups of a pipeline are cut where masters are the weights") {
  const TempDir folder;
  // The first layer is tied, and its masters come first; the second and third begin alike.
  for (const auto& [name, at, count] :
       {std::tuple{"0", 3, 2}, std::tuple{"1", 5, 3}, std::tuple{"2", 5, 2}}) {
    folder.write(std::string("tag/layer_0") + name + "-model_states.pt",
                 archive(pickled::dict({{"weight", row(at, count)}})));
  }
  SUBCASE("stored once") {
    write_stages(folder, {flat_optimizer(3, 5, 20), flat_optimizer(3, 4, 40)});
    const Opened made(folder.path("tag"));
    REQUIRE(made.of("0.weight@master").size() == 2);
    CHECK(first_float(*made.of("0.weight@master")[0]) == 3);
    CHECK(first_float(*made.of("0.weight@exp_avg")[1]) == 40);
    CHECK(made.of("0.weight@master")[1]->piece.rank == 1);
    REQUIRE(made.of("2.weight@exp_avg").size() == 1);
    CHECK(first_float(*made.of("2.weight@exp_avg")[0]) == 42);
    CHECK(made.of("2.weight")[0]->piece.rank == 1);
    CHECK_FALSE(made.says(Code::name_mapping));
  }
  SUBCASE("not tied at all") {
    write_stages(folder, {flat_optimizer(3, 5, 20), flat_optimizer(5, 2, 40)});
    const Opened made(folder.path("tag"));
    CHECK(made.of("0.weight@master").size() == 1);
    CHECK(first_float(*made.of("2.weight@master")[0]) == 5);
  }
  SUBCASE("stored as a second layer too") {
    folder.write("tag/layer_03-model_states.pt", archive(pickled::dict({{"weight", row(3, 2)}})));
    write_stages(folder, {flat_optimizer(3, 5, 20), flat_optimizer(3, 4, 40)});
    const Opened made(folder.path("tag"));
    CHECK(made.of("3.weight").empty());
    REQUIRE(made.of("0.weight").size() == 2);
    CHECK(made.of("0.weight")[0]->piece.rank == 0);
    CHECK(made.of("0.weight")[1]->piece.rank == 1);
    CHECK(first_float(*made.of("2.weight@exp_avg")[0]) == 42);
  }
  SUBCASE("lengths that fit no cut") {
    write_stages(folder, {flat_optimizer(3, 4, 20), flat_optimizer(30, 4, 40)});
    const Opened made(folder.path("tag"));
    CHECK(made.of("0.weight@master").empty());
    CHECK(made.says(Code::name_mapping));
    CHECK(made.state.unreadable == 2);
  }
  SUBCASE("a row that ends behind its storage") {
    write_stages(folder, {flat_optimizer(3, 5, 62), flat_optimizer(3, 4, 40)});
    const Opened made(folder.path("tag"));
    CHECK(made.of("0.weight@master").size() == 2);
    CHECK(made.of("1.weight@exp_avg").empty());
    CHECK(made.of("2.weight@exp_avg").size() == 1);
    CHECK(made.of("2.weight")[0]->piece.rank == 1);
    CHECK(made.says(Code::unreadable));
    CHECK(made.state.unreadable == 1);
  }
  SUBCASE("masters that are no weight's") {
    write_stages(folder, {flat_optimizer(30, 5, 20), flat_optimizer(40, 4, 40)});
    CHECK(Opened(folder.path("tag")).says(Code::name_mapping));
  }
}

TEST_CASE("deepspeed: flat groups with decay and without hold matrices and the rest") {
  const TempDir folder;
  const std::string state = pickled::dict({{"exp_avg", row(20, 3)}});
  const std::string group = pickled::dict({{"params", pickled::list({pickled::integer(0)})}});
  const std::string other = pickled::dict({{"params", pickled::list({pickled::integer(1)})}});
  ModelStates model;
  model.stage = 0;
  model.ranks = 1;
  model.shapes = "N";
  model.optimizer = pickled::dict(
      {{"optimizer_state_dict", pickled::dict({{"state", pickled::dict({{"0", state}})},
                                               {"param_groups", pickled::list({group, other})}})},
       {"fp32_groups_flat", pickled::list({row(6, 3), row(0, 6)})}});
  folder.write(kModel, model.file());
  const Opened made(folder.path("tag"));
  REQUIRE(made.of("b@exp_avg").size() == 1);
  CHECK(first_float(*made.of("b@exp_avg")[0]) == 20);
  REQUIRE(made.of("a@master").size() == 1);
  CHECK(first_float(*made.of("a@master")[0]) == 0);
}

TEST_CASE("deepspeed: without ZeRO a pipeline in bf16 lists its parameters with the slices") {
  const TempDir folder;
  tests::OptimStates optimizer;
  const auto write = [&](int stage, const std::string& first, std::int64_t first_count,
                         const std::string& second, std::int64_t second_count) {
    optimizer.first = row(10 * stage, first_count);
    optimizer.first_moment = row(30, first_count);
    optimizer.second = row(20 + 10 * stage, second_count);
    optimizer.second_moment = row(40, second_count);
    optimizer.counts = pickled::list({pickled::integer(1), pickled::integer(1)});
    optimizer.slices = pickled::list({pickled::dict({{first, tests::fragment(0, first_count)}}),
                                      pickled::dict({{second, tests::fragment(0, second_count)}})});
    folder.write("tag/bf16_zero_pp_rank_0_mp_rank_0" + std::to_string(stage) + "_optim_states.pt",
                 optimizer.file());
  };
  write(0, "tied_modules.embed.weight", 4, "1.bias", 3);
  write(1, "tied_modules.embed.weight", 4, "2.bias", 2);
  const std::string copy =
      pickled::dict({{"single_partition_of_fp32_groups", pickled::list({row(0, 4)})}});
  write_stages(folder, {copy, copy});
  const std::string embedding = pickled::tensor({"FloatStorage", "0", 64, 0, {2, 2}, {2, 1}});
  folder.write("tag/layer_00-model_states.pt", archive(pickled::dict({{"weight", embedding}})));
  folder.write("tag/layer_01-model_states.pt", archive(pickled::dict({{"bias", row(3, 3)}})));
  folder.write("tag/layer_02-model_states.pt", archive(pickled::dict({{"bias", row(5, 2)}})));
  folder.write("tag/layer_03-model_states.pt", archive(pickled::dict({{"weight", embedding}})));
  const Opened made(folder.path("tag"));
  REQUIRE(made.of("tied_modules.embed.weight").size() == 2);
  CHECK(made.of("tied_modules.embed.weight")[0]->piece.rank == 0);
  CHECK(made.of("tied_modules.embed.weight")[1]->piece.rank == 1);
  CHECK(made.of("tied_modules.embed.weight@master").size() == 2);
  REQUIRE(made.of("2.bias@master").size() == 1);
  CHECK(first_float(*made.of("2.bias@master")[0]) == 30);
  CHECK_FALSE(made.says(Code::name_mapping));
  CHECK_FALSE(made.says(Code::shape_or_dtype));
}

TEST_CASE("deepspeed-universal: of a pipeline there are masters alone") {
  const TempDir folder;
  ModelStates model;
  model.module = "N";
  folder.write(kModel, model.file());
  for (const char* name : {"a", "b"}) {
    folder.write(std::string("tag/zero/") + name + "/fp32.pt",
                 archive(row(0, *name == 'a' ? 6 : 3)));
  }
  const Opened made(folder.path("tag"));
  CHECK(made.of("a@master").size() == 1);
  CHECK_FALSE(made.says(Code::omission));
}

TEST_CASE("deepspeed-universal: a whole shape is that of the parts of all ranks together") {
  const TempDir folder;
  const auto write = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    ModelStates model;
    model.mp = 2;
    model.ranks = 1;
    model.module = pickled::dict({});
    model.shapes = pickled::list({pickled::dict({{"a", pickled::numbers({rows, columns})}})});
    folder.write(name, model.file());
  };
  write(kModel, 3, 2);
  folder.write("tag/zero/a/fp32.pt", archive(row(0, 10)));
  SUBCASE("of uneven parts") {
    write("tag/mp_rank_01_model_states.pt", 2, 2);
    const Opened made(folder.path("tag"));
    REQUIRE(made.of("a@master").size() == 1);
    CHECK(made.of("a@master")[0]->shape == Shape{5, 2});
    CHECK_FALSE(made.says(Code::shape_or_dtype));
  }
  SUBCASE("of parts that are not of one tensor") {
    write("tag/mp_rank_01_model_states.pt", 2, 3);
    const Opened made(folder.path("tag"));
    REQUIRE(made.of("a@master").size() == 1);
    CHECK(made.of("a@master")[0]->shape == Shape{10});
    CHECK(made.says(Code::shape_or_dtype));
  }
}

}  // namespace
}  // namespace ttcheck::formats
