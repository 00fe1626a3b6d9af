// SPDX-License-Identifier: Apache-2.0
// DeepSpeed's tag directories through the door: partitions, numbered state, pipelines, experts, and
// what is wrong with damaged or mixed ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::fragment;
using tests::ModelStates;
using tests::OptimStates;
using tests::row;
using tests::TempDir;
namespace pickled = tests::pickled;

struct Opened {
  explicit Opened(const std::string& path) : run(opened(path)), state(run.open(0)) {}

  static Run opened(const std::string& path) {
    Result<Run> found = open(path);
    if (!found) throw found.error();
    return std::move(*found);
  }

  /// Records of that name, by the beginning of their ranges.
  std::vector<const Record*> of(std::string_view name) const {
    std::vector<const Record*> found;
    for (const Record& record : state.records) {
      if (record.identity.name == name) found.push_back(&record);
    }
    return found;
  }

  const Finding* finding(Code code) const {
    const auto found = std::ranges::find(state.findings, code, &Finding::code);
    return found == state.findings.end() ? nullptr : &*found;
  }

  bool quiet() const {
    return std::ranges::none_of(
        state.findings, [](const Finding& finding) { return finding.severity != Severity::note; });
  }

  double fact(std::string_view name) const {
    const Fact* found = find_fact(state.facts, name);
    return found == nullptr ? -1 : std::get<double>(found->value);
  }

  Run run;
  State state;
};

constexpr const char* kModel = "tag/mp_rank_00_model_states.pt";
constexpr const char* kFirst = "tag/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt";
constexpr const char* kLast = "tag/bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt";

/// The last rank's partitions: the fp32 row of group 1 has lost its padding.
OptimStates last_rank() {
  OptimStates made;
  made.second = row(10, 1);
  return made;
}

void write_zero2(const TempDir& folder) {
  folder.write(kModel, ModelStates().file());
  folder.write(kFirst, OptimStates().file());
  folder.write(kLast, last_rank().file());
}

std::int64_t first_float(const Record& record) {
  std::byte bytes[4];
  record.piece.source->read(record.piece.offset, bytes);
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<std::int64_t>(value);
}

TEST_CASE("deepspeed: ZeRO 2, ranges of each rank's partitions") {
  const TempDir folder;
  write_zero2(folder);
  const Opened made(folder.path("tag"));
  CHECK(made.run.format == "deepspeed");
  CHECK(made.run.mesh.size_of("dp") == 2);
  CHECK(made.quiet());
  const auto masters = made.of("a@master");
  REQUIRE(masters.size() == 2);
  CHECK(masters[1]->shape == Shape{3});
  CHECK(masters[1]->logical == Shape{3, 2});
  CHECK(*masters[1]->flat == FlatRange{{3, 2}, 3});
  CHECK(masters[1]->piece.rank == 1);
  CHECK(first_float(*masters[1]) == 0);
  const auto moments = made.of("b@exp_avg");
  REQUIRE(moments.size() == 2);
  CHECK(moments[1]->shape == Shape{1});  // the padding of its row is not data
  CHECK(first_float(*moments[1]) == 30);
  CHECK(made.fact("b@step") == 7);
  CHECK(std::get<std::string>(find_fact(made.state.facts, "tied.head")->value) == "a");
  CHECK(std::get<std::int64_t>(find_fact(made.state.facts, "zero_stage")->value) == 2);
  CHECK(made.of("a").size() == 1);
  CHECK(made.of("shift").size() == 1);
}

TEST_CASE("F12 a state of one element beside partitions is a number of the group, no part of it") {
  const TempDir folder;
  folder.write(kModel, ModelStates().file());
  OptimStates first, last = last_rank();
  first.one = last.one = row(40, 1);
  folder.write(kFirst, first.file());
  folder.write(kLast, last.file());
  const Opened made(folder.path("tag"));
  CHECK(made.quiet());
  CHECK(made.of("a@tensor_step").empty());
  CHECK(made.fact("a@tensor_step") == 40);
  CHECK(made.fact("b@tensor_step") == 40);
}

TEST_CASE("MD04: partition sizes that do not sum to the parameter groups") {
  const TempDir folder;
  write_zero2(folder);
  ModelStates wrong;
  wrong.shapes = pickled::list({pickled::dict({{"a", pickled::numbers({3, 3})}}),
                                pickled::dict({{"b", pickled::numbers({3})}})});
  folder.write(kModel, wrong.file());
  CHECK(Opened(folder.path("tag")).finding(Code::shape_or_dtype) != nullptr);
  wrong.shapes = pickled::list({pickled::dict({{"a", pickled::numbers({1, 2})}}),
                                pickled::dict({{"b", pickled::numbers({3})}})});
  folder.write(kModel, wrong.file());
  CHECK(Opened(folder.path("tag")).finding(Code::padding) != nullptr);
}

TEST_CASE("deepspeed: files of another step, and of another rank") {
  const TempDir folder;
  write_zero2(folder);
  OptimStates other = last_rank();
  other.step = 5;
  folder.write(kLast, other.file());
  const Opened mixed(folder.path("tag"));
  REQUIRE(mixed.finding(Code::mixed_step) != nullptr);
  CHECK(mixed.finding(Code::mixed_step)->ranks == std::vector<std::int32_t>{1});
  OptimStates foreign = last_rank();
  foreign.slices = pickled::list(
      {pickled::dict({{"a", fragment(0, 3)}}), pickled::dict({{"b", fragment(0, 2)}})});
  folder.write(kLast, foreign.file());
  const Opened exchanged(folder.path("tag"));
  REQUIRE(exchanged.finding(Code::mixed_step) != nullptr);
  CHECK(exchanged.finding(Code::mixed_step)->message.find("part 0") != std::string::npos);
  OptimStates own = last_rank();
  own.slices = pickled::list(
      {pickled::dict({{"a", fragment(0, 3)}}), pickled::dict({{"b", fragment(0, 1)}})});
  folder.write(kLast, own.file());
  CHECK(Opened(folder.path("tag")).quiet());
}

TEST_CASE("MD02: rank files missing, extra, and twice") {
  const TempDir folder;
  write_zero2(folder);
  folder.write("tag/mp_rank_000_model_states.pt", ModelStates().file());
  folder.write("tag/bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt", OptimStates().file());
  std::filesystem::remove(folder.path(kFirst));
  const Opened made(folder.path("tag"));
  CHECK(made.finding(Code::overlap) != nullptr);
  CHECK(made.finding(Code::unexpected) != nullptr);
  CHECK(made.state.missing_ranks == std::vector<std::int32_t>{0});
  CHECK(made.of("a@master").size() == 1);
}

TEST_CASE("MD03: one rank's file truncated, of another dtype, not there at all") {
  const TempDir folder;
  write_zero2(folder);
  folder.write(kLast, OptimStates().file().substr(0, 200));
  const Opened made(folder.path("tag"));
  CHECK(made.state.unreadable_ranks.contains(1));
  CHECK(made.of("a@master").size() == 1);
  folder.write(kModel, "PK");
  const Opened nameless(folder.path("tag"));
  CHECK(nameless.finding(Code::omission) != nullptr);
  folder.write(kFirst, "");
  CHECK_FALSE(open(folder.path("tag")).has_value());
}

TEST_CASE("MD05, MD06: arbitrary classes are facts, scripts are listed and not run") {
  const TempDir folder;
  write_zero2(folder);
  ModelStates made;
  made.more_key = "args";
  made.more = pickled::call("argparse", "Namespace", {pickled::text("x")});
  folder.write(kModel, made.file());
  folder.write("tag/zero_to_fp32.py", "print(1)");
  const Opened read(folder.path("tag"));
  const auto script = std::ranges::find_if(read.state.findings, [](const Finding& finding) {
    return finding.where && finding.where->file.ends_with("zero_to_fp32.py");
  });
  REQUIRE(script != read.state.findings.end());
  CHECK(script->message.find("not run") != std::string::npos);
  CHECK(read.of("a").size() == 1);
}

TEST_CASE("MD01: a tracker that names no step") {
  const std::string texts[] = {"../../x",
                               "",
                               "a\nb",
                               std::string("a\0b", 3),
                               "\xff\xfe\x01 7 \x02",
                               "no tag",
                               std::string(10 << 20, 'x')};
  for (const std::string tracker : {"latest", "latest_checkpointed_iteration.txt"}) {
    const TempDir folder;
    folder.write("global_step7/mp_rank_00_model_states.pt", ModelStates().file());
    for (const std::string& text : texts) {
      INFO(text.substr(0, 20));
      folder.write(tracker, text);
      const Run run = Opened::opened(folder.path());
      CHECK(run.steps == std::vector<std::optional<std::int64_t>>{7});
      CHECK(std::ranges::any_of(run.findings, [&](const Finding& finding) {
        return finding.severity != Severity::note && finding.where &&
               finding.where->file.ends_with(tracker);
      }));
      CHECK(run.bytes_read() < 1 << 20);
    }
    folder.write(tracker, "global_step7\n");
    CHECK(Opened::opened(folder.path()).findings.empty());
  }
}

TEST_CASE("MD08: a tag that is a loop of links") {
  const TempDir folder;
  folder.write("global_step7/mp_rank_00_model_states.pt", ModelStates().file());
  folder.write("latest", "global_step9");
  const std::filesystem::path loop = folder.path("global_step9");
  std::filesystem::create_symlink("global_step9", loop);
  const Run itself = Opened::opened(folder.path());
  CHECK(itself.steps.size() == 1);
  CHECK(itself.findings.at(0).message.find("step 9, which is not there") != std::string::npos);
  std::filesystem::remove(loop);
  std::filesystem::create_directory_symlink(".", loop);
  const Run upwards = Opened::opened(folder.path());
  REQUIRE(upwards.steps.size() == 2);
  CHECK(upwards.open(0).records.size() > 0);
  CHECK_THROWS_AS(upwards.open(1), Error);
}

TEST_CASE("deepspeed: ZeRO 3, each parameter cut alone over rows that follow each other") {
  const TempDir folder;
  for (int rank = 0; rank < 2; ++rank) {
    ModelStates model;
    model.stage = 3;
    model.module = pickled::dict({{"a", row(0, 0)}, {"b", row(0, 0)}, {"shift", row(9, 2)}});
    folder.write("tag/zero_pp_rank_" + std::to_string(rank) + "_mp_rank_00_model_states.pt",
                 model.file());
    const std::string state =
        tests::base_state(tests::moments(row(20, 4), 7), tests::moments(row(24, 1), 7));
    folder.write("tag/zero_pp_rank_" + std::to_string(rank) + "_mp_rank_00_optim_states.pt",
                 archive(pickled::dict(
                     {{"optimizer_state_dict",
                       pickled::dict({{"fp32_flat_groups", pickled::list({row(0, 4), row(4, 1)})},
                                      {"optimizer_state_dict", state},
                                      {"partition_count", pickled::integer(2)}})}})));
  }
  const Opened made(folder.path("tag"));
  CHECK(made.quiet());
  CHECK(made.of("a").empty());  // ZeRO 3 leaves it empty
  CHECK(made.of("shift").size() == 2);
  const auto b = made.of("b@master");  // straddles the rows on rank 0, padded on rank 1
  REQUIRE(b.size() == 3);
  CHECK(*b[0]->flat == FlatRange{{3}, 0});
  CHECK(*b[1]->flat == FlatRange{{3}, 1});
  CHECK(first_float(*b[1]) == 4);
  CHECK(b[2]->shape == Shape{1});
  CHECK(b[2]->flat->begin == 2);
}

TEST_CASE("deepspeed: ZeRO 0, numbers in the order of the trainable parameters") {
  const TempDir folder;
  ModelStates model;
  model.stage = 0;
  model.shapes = "N";
  const std::string first =
      pickled::dict({{"exp_avg", pickled::tensor({"FloatStorage", "0", 64, 20, {3, 2}, {2, 1}})}});
  model.optimizer = pickled::dict(
      {{"optimizer_state_dict", tests::base_state(first, tests::moments(row(30, 3), 7))}});
  folder.write(kModel, model.file());
  const Opened made(folder.path("tag"));
  CHECK(made.quiet());
  REQUIRE(made.of("a@exp_avg").size() == 1);
  CHECK(first_float(*made.of("a@exp_avg")[0]) == 20);
  CHECK(made.of("b@exp_avg").size() == 1);
  CHECK(made.of("shift@exp_avg").empty());
}

TEST_CASE("deepspeed: a pipeline's layers by their numbers and ties") {
  const TempDir folder;
  ModelStates model;
  model.module = "N";
  model.stage = 0;
  model.ranks = 1;
  model.shapes = pickled::list({pickled::dict({{"tied_modules.embed.weight", pickled::numbers({3})},
                                               {"1.weight", pickled::numbers({2})}})});
  folder.write(kModel, model.file());
  folder.write("tag/layer_00-model_states.pt", archive(pickled::dict({{"weight", row(0, 3)}})));
  folder.write("tag/layer_01-model_states.pt", archive(pickled::dict({{"weight", row(3, 2)}})));
  const Opened made(folder.path("tag"));
  CHECK(made.of("tied_modules.embed.weight").size() == 1);
  CHECK(made.of("1.weight").size() == 1);
  CHECK(made.quiet());
  std::filesystem::remove(folder.path("tag/layer_01-model_states.pt"));
  CHECK(Opened(folder.path("tag")).finding(Code::omission) != nullptr);
}

TEST_CASE("deepspeed: an expert file that holds another expert") {
  const TempDir folder;
  write_zero2(folder);
  folder.write("tag/layer_0_expert_1_mp_rank_00_model_states.pt",
               archive(pickled::dict({{"m.deepspeed_experts.3.w", row(0, 3)}})));
  const Opened made(folder.path("tag"));
  CHECK(made.finding(Code::mixed_step) != nullptr);
  CHECK(made.of("m.deepspeed_experts.3.w").size() == 1);
}

TEST_CASE("deepspeed-universal: merged parameters, shaped by param_shapes where they are flat") {
  const TempDir folder;
  folder.write(kModel, ModelStates().file());
  folder.write("tag/zero/a/fp32.pt", archive(row(0, 6)));
  folder.write("tag/zero/a/step.pt", archive(tests::scalar(5)));
  folder.write("tag/zero/b/step.pt", archive(tests::scalar(5)));
  folder.write("tag/zero/b/fp32.pt", archive(pickled::dict({{"param", row(6, 3)}})));
  folder.write(
      "tag/zero/optimizer_state.pt",
      archive(pickled::dict(
          {{"param_groups", pickled::list({pickled::dict({{"lr", pickled::integer(1)}})})}})));
  const Opened made(folder.path("tag"));
  CHECK(made.run.format == "deepspeed-universal");
  CHECK(made.quiet());
  CHECK(made.of("a@master")[0]->shape == Shape{3, 2});
  CHECK(made.fact("a@step") == 5);
  CHECK(find_fact(made.state.facts, "optimizer.groups.0.lr") != nullptr);
  std::filesystem::remove(folder.path("tag/zero/b/fp32.pt"));
  CHECK(Opened(folder.path("tag")).finding(Code::omission) != nullptr);
  folder.write("tag/zero/b/fp32.pt", archive(row(0, 9)));
  CHECK(Opened(folder.path("tag")).finding(Code::shape_or_dtype) != nullptr);
}

/// Two tensor-parallel ranks whose model says how its parts are put together.
struct RuledModel {
  std::int64_t vocabulary = 5;
  std::string copies = "cop[xy]$", halves = "pair", rows = "r";

  void write(const TempDir& folder) const {
    const auto patterns = [](const std::string& text) {
      return pickled::list({pickled::text(text)});
    };
    for (const int rank : {0, 1}) {
      ModelStates made;
      made.mp = 2;
      made.ranks = 1;
      made.stage = 1;
      made.module = pickled::dict(
          {{"copy", row(0, 3)},
           {"pair", row(4, 4)},
           {"row", pickled::tensor({"FloatStorage", "0", 64, 8, {2, 2}, {2, 1}})},
           {"embed", pickled::tensor({"FloatStorage", "0", 64, 12, {4, 2}, {2, 1}})}});
      made.shapes = pickled::list({pickled::dict({{"copy", pickled::numbers({3})},
                                                  {"pair", pickled::numbers({4})},
                                                  {"row", pickled::numbers({2, 2})},
                                                  {"embed", pickled::numbers({4, 2})}})});
      made.more_key = "universal_checkpoint_info";
      made.more = pickled::dict({{"tp_replicated_parameter_patterns", patterns(copies)},
                                 {"parameter_with_2_sub_params_cat_dim_0", patterns(halves)},
                                 {"parameter_with_row_parallelism_patterns", patterns(rows)},
                                 {"vocabulary_parameter_patterns", patterns(".*embed")},
                                 {"original_vocab_size", pickled::integer(vocabulary)}});
      const std::string number = "0" + std::to_string(rank);
      folder.write("tag/mp_rank_" + number + "_model_states.pt", made.file());
      folder.write(
          "tag/zero_pp_rank_0_mp_rank_" + number + "_optim_states.pt",
          archive(pickled::dict(
              {{"optimizer_state_dict",
                pickled::dict({{"single_partition_of_fp32_groups", pickled::list({row(0, 19)})},
                               {"base_optimizer_state", pickled::list({})},
                               {"partition_count", pickled::integer(1)}})}})));
    }
  }
};

TEST_CASE("deepspeed: parts are put together as universal_checkpoint_info says") {
  const TempDir folder;
  RuledModel().write(folder);
  const Opened made(folder.path("tag"));
  CHECK(made.quiet());
  CHECK(made.of("copy").size() == 2);
  CHECK_FALSE(made.of("copy")[1]->logical);
  CHECK(*made.of("row")[1]->box_lo == Extents{0, 2});
  for (const char* name : {"pair", "pair@master"}) {
    const auto pair = made.of(name);
    REQUIRE(pair.size() == 4);  // the halves of rank 0, then of rank 1
    CHECK(*pair[2]->logical == Shape{8});
    CHECK(*pair[1]->box_lo == Extents{4});
    CHECK(*pair[2]->box_lo == Extents{2});
    CHECK(*pair[3]->box_lo == Extents{6});
    CHECK(first_float(*pair[3]) == first_float(*pair[2]) + 2);
  }
  const auto embed = made.of("embed");
  REQUIRE(embed.size() == 2);
  CHECK(*embed[0]->logical == Shape{5, 2});
  CHECK(embed[0]->shape == Shape{4, 2});
  CHECK(embed[1]->shape == Shape{1, 2});
  CHECK(made.of("embed@master")[1]->shape == Shape{2});
}

TEST_CASE("deepspeed: rules of universal_checkpoint_info that are wrong") {
  const TempDir folder;
  RuledModel wrong;
  wrong.vocabulary = 9;
  wrong.rows = "(a|b)";
  wrong.write(folder);
  const Opened made(folder.path("tag"));
  REQUIRE(made.finding(Code::padding) != nullptr);
  CHECK(made.of("embed")[1]->shape == Shape{4, 2});
  CHECK(made.finding(Code::name_mapping)->message.find("`(a|b)`") != std::string::npos);
  wrong.rows = "no such";
  wrong.write(folder);
  const Opened unused(folder.path("tag"));
  CHECK(unused.finding(Code::name_mapping)->message.find("`no such`") != std::string::npos);
  RuledModel odd;
  odd.copies = "none";
  odd.halves = "[cp]";
  odd.write(folder);
  const Opened cut(folder.path("tag"));
  REQUIRE(cut.finding(Code::shape_or_dtype) != nullptr);
  CHECK(cut.finding(Code::shape_or_dtype)->tensor == "copy");
  CHECK(*cut.of("copy")[1]->box_lo == Extents{3});
}

TEST_CASE("deepspeed: experts that AutoEP cut over their copies are refused") {
  const TempDir folder;
  write_zero2(folder);
  ModelStates made;
  made.more_key = "ds_autoep_layers";
  made.more =
      pickled::list({pickled::dict({{"checkpoint_format", pickled::text("zero3_partitioned")}})});
  folder.write(kModel, made.file());
  const Opened read(folder.path("tag"));
  REQUIRE(read.finding(Code::omission) != nullptr);
  CHECK(read.finding(Code::omission)->message.find("AutoEP") != std::string::npos);
  CHECK(read.state.unreadable == 8);
  CHECK(read.of("a").size() == 1);
  CHECK(read.of("a@master").empty());
}

TEST_CASE("deepspeed-universal: a vocabulary without its padding, as the model's rules say") {
  const TempDir folder;
  RuledModel().write(folder);
  for (const int rank : {0, 1}) {
    std::filesystem::remove(
        folder.path("tag/zero_pp_rank_0_mp_rank_0" + std::to_string(rank) + "_optim_states.pt"));
  }
  const auto write = [&](const std::string& name, std::vector<std::int64_t> size) {
    pickled::Tensor tensor{"FloatStorage", "0", 64, 0, size, {1}};
    if (size.size() == 2) tensor.stride = {size[1], 1};
    folder.write("tag/zero/" + name + "/fp32.pt",
                 archive(pickled::dict({{"param", pickled::tensor(tensor)}})));
  };
  write("copy", {3});
  write("pair", {8});
  write("row", {2, 4});
  write("embed", {5, 2});
  folder.write("tag/zero/optimizer_state.pt", archive(pickled::dict({})));
  CHECK(Opened(folder.path("tag")).quiet());
  write("embed", {8, 2});
  const Opened padded(folder.path("tag"));
  const auto fault = std::ranges::find(padded.state.findings, "embed@master", &Finding::tensor);
  REQUIRE(fault != padded.state.findings.end());
  CHECK(fault->code == Code::padding);
}

}  // namespace
}  // namespace ttcheck::formats
