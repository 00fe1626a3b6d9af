// SPDX-License-Identifier: Apache-2.0
// Training state beside weights: the optimizer under the weights' names, the rest as facts.

#include "formats/hf/training_state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/hf/parameter_order.hpp"
#include "formats/open.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::safetensors_of;
using tests::TempDir;
using tests::torch_archive;

std::vector<std::string> sorted_as_defined(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<Candidate> parameters;
  for (const std::string& name : names) parameters.push_back({name, {2}});
  if (!sort_as_defined(parameters)) return {};
  names.clear();
  for (const Candidate& parameter : parameters) names.push_back(parameter.name);
  return names;
}

void check_order(const std::vector<std::string>& defined) {
  CHECK(sorted_as_defined(defined) == defined);
}

TEST_CASE("parameters are counted in the order in which transformers defines them") {
  check_order({"model.embed_tokens.weight", "model.layers.2.self_attn.q_proj.weight",
               "model.layers.2.self_attn.q_proj.bias", "model.layers.2.self_attn.k_proj.weight",
               "model.layers.2.self_attn.v_proj.weight", "model.layers.2.self_attn.o_proj.weight",
               "model.layers.2.mlp.gate_proj.weight", "model.layers.2.mlp.up_proj.weight",
               "model.layers.2.mlp.down_proj.weight", "model.layers.2.input_layernorm.weight",
               "model.layers.2.post_attention_layernorm.weight",
               "model.layers.10.self_attn.q_proj.weight", "model.norm.weight", "lm_head.weight"});
  check_order({"wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.ln_1.bias",
               "h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight", "h.0.ln_2.weight",
               "h.0.mlp.c_fc.weight", "h.0.mlp.c_proj.weight", "ln_f.weight"});
  check_order({"gpt_neox.embed_in.weight", "gpt_neox.layers.0.input_layernorm.weight",
               "gpt_neox.layers.0.post_attention_layernorm.weight",
               "gpt_neox.layers.0.attention.query_key_value.weight",
               "gpt_neox.layers.0.attention.dense.weight",
               "gpt_neox.layers.0.mlp.dense_h_to_4h.weight",
               "gpt_neox.layers.0.mlp.dense_4h_to_h.weight", "gpt_neox.final_layer_norm.weight",
               "embed_out.weight"});
  check_order({"model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate.weight",
               "model.layers.0.mlp.experts.0.gate_proj.weight",
               "model.layers.0.mlp.experts.0.up_proj.weight",
               "model.layers.0.mlp.experts.0.down_proj.weight",
               "model.layers.0.mlp.experts.10.gate_proj.weight",
               "model.layers.0.input_layernorm.weight"});
}

TEST_CASE("names of no known model are not put in an order") {
  CHECK(sorted_as_defined({"a.weight", "b.weight"}).empty());
  CHECK(sorted_as_defined({"layers.0.self_attn.q_proj.weight", "layers.0.novel.weight"}).empty());
  CHECK(sorted_as_defined({"layers.0.self_attn.q_proj.weight", "novel"}).empty());
}

TEST_CASE("files of training state are known by their names") {
  for (const char* name : {"optimizer.pt", "optimizer.bin", "scheduler.pt", "rng_state_3.pth",
                           "random_states_0.pkl", "training_args.bin", "scaler.pt"}) {
    CHECK(is_training_state(name));
  }
  for (const char* name : {"model.safetensors", "optimizer.json", "trainer_state.json"}) {
    CHECK_FALSE(is_training_state(name));
  }
}

/// q_proj and o_proj of one shape, which only the order tells apart.
void write_model(const TempDir& dir, std::string_view first, std::string_view second) {
  const std::string header =
      "{\"" + std::string(first) + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},")" +
      std::string(second) + R"(":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  dir.write("model.safetensors", safetensors_of(header, std::string(16, '\1')));
  dir.write("trainer_state.json", R"({"global_step": 4})");
  const std::string moment = tensor({.size = {2}, .stride = {1}});
  const std::string state = "}(" + integer(0) + dict({{"exp_avg", moment}}) + integer(1) +
                            dict({{"exp_avg_sq", moment}}) + "u";
  const std::string group = dict({{"params", list({integer(0), integer(1)})}});
  dir.write("optimizer.pt",
            torch_archive(dict({{"state", state}, {"param_groups", list({group})}})));
}

const Record* record(const State& state, std::string_view name) {
  const auto found = std::ranges::find_if(
      state.records, [&](const Record& one) { return one.identity.name == name; });
  return found == state.records.end() ? nullptr : &*found;
}

State state_of(const TempDir& dir) {
  Result<Run> run = open(dir.path());
  if (!run) FAIL(run.error().what());
  static std::vector<Run> kept;  // records point into it
  return kept.emplace_back(std::move(*run)).open(0);
}

TEST_CASE("the optimizer's numbers get the names of the weights") {
  const TempDir dir;
  write_model(dir, "model.layers.0.self_attn.o_proj.weight",
              "model.layers.0.self_attn.q_proj.weight");
  const State state = state_of(dir);
  CHECK(state.records.size() == 4);
  CHECK(record(state, "model.layers.0.self_attn.q_proj.weight@exp_avg") != nullptr);
  CHECK(record(state, "model.layers.0.self_attn.o_proj.weight@exp_avg_sq") != nullptr);
  CHECK(state.unreadable == 0);
}

TEST_CASE("numbers stay numbers where the order of the weights is not known") {
  const TempDir dir;
  write_model(dir, "a.weight", "b.weight");
  const State state = state_of(dir);
  CHECK(record(state, "optimizer.state.0.exp_avg") != nullptr);
  CHECK(std::ranges::any_of(state.findings, [](const Finding& one) {
    return one.code == Code::name_mapping && one.severity == Severity::warning;
  }));
}

TEST_CASE("generators of ranks, scheduler and arguments are facts") {
  const TempDir dir;
  write_model(dir, "b.weight", "a.weight");
  dir.write("rng_state_0.pth", torch_archive(dict({{"cpu", tensor({})}})));
  dir.write("rng_state_1.pth",
            torch_archive(dict({{"cpu", tensor({.size = {4}, .stride = {1}})}})));
  dir.write("scheduler.pt", torch_archive(dict({{"last_epoch", integer(4)}})));
  dir.write("training_args.bin", torch_archive(dict({{"learning_rate", integer(1)}})));
  const State state = state_of(dir);
  CHECK(state.records.size() == 4);
  REQUIRE(find_fact(state.facts, "rng.cpu") != nullptr);
  CHECK(find_fact(state.facts, "rng.cpu")->use == FactUse::opaque);
  CHECK(find_fact(state.facts, "rng.cpu.rank.1") != nullptr);
  const Fact* epoch = find_fact(state.facts, "scheduler.last_epoch");
  REQUIRE(epoch != nullptr);
  CHECK(epoch->value == FactValue(std::int64_t{4}));
  const Fact* rate = find_fact(state.facts, "args.learning_rate");
  REQUIRE(rate != nullptr);
  CHECK(rate->use == FactUse::note);
}

TEST_CASE("a damaged file of training state is said, and the weights are read") {
  const TempDir dir;
  write_model(dir, "b.weight", "a.weight");
  dir.write("optimizer.pt", "nothing that torch wrote");
  const State state = state_of(dir);
  CHECK(state.records.size() == 2);
  CHECK(state.unreadable == 1);
}

/// What says that the file is not there.
const Finding* finding_on(const State& state, std::string_view file) {
  const auto found = std::ranges::find_if(state.findings, [&](const Finding& one) {
    return one.incomplete && one.where && one.where->file.ends_with("/" + std::string(file));
  });
  return found == state.findings.end() ? nullptr : &*found;
}

TEST_CASE("training state without a file that is written with the others is not complete") {
  const TempDir dir;
  write_model(dir, "b.weight", "a.weight");
  const State alone = state_of(dir);
  for (const char* name : {"scheduler.pt", "rng_state.pth"}) {
    const Finding* said = finding_on(alone, name);
    REQUIRE(said != nullptr);
    CHECK(said->code == Code::omission);
    CHECK(said->incomplete);
  }
  std::filesystem::remove(dir.path("trainer_state.json"));
  dir.write("config.json", "{}");
  CHECK(finding_on(state_of(dir), "scheduler.pt") == nullptr);  // a script's own files
  dir.write("trainer_state.json", R"({"global_step": 4})");
  dir.write("scheduler.pt", torch_archive(dict({{"last_epoch", integer(4)}})));
  dir.write("rng_state.pth", torch_archive(dict({{"cpu", tensor({})}})));
  CHECK(finding_on(state_of(dir), "scheduler.pt") == nullptr);
  std::filesystem::remove(dir.path("optimizer.pt"));
  CHECK(finding_on(state_of(dir), "optimizer.pt") != nullptr);
  std::filesystem::create_directory(dir.path("global_step4"));
  CHECK(finding_on(state_of(dir), "optimizer.pt") == nullptr);
  std::filesystem::remove(dir.path("scheduler.pt"));
  std::filesystem::remove(dir.path("rng_state.pth"));
  CHECK(finding_on(state_of(dir), "rng_state.pth") == nullptr);  // nothing was to be written
}

TEST_CASE("generators of a rank between others are missing") {
  const TempDir dir;
  write_model(dir, "b.weight", "a.weight");
  dir.write("scheduler.pt", torch_archive(dict({{"last_epoch", integer(4)}})));
  for (const char* name : {"rng_state_1.pth", "rng_state_3.pth"}) {
    dir.write(name, torch_archive(dict({{"cpu", tensor({})}})));
  }
  const State state = state_of(dir);
  for (const char* name : {"rng_state_0.pth", "rng_state_2.pth"}) {
    const Finding* said = finding_on(state, name);
    REQUIRE(said != nullptr);
    CHECK(said->code == Code::missing_rank);
    CHECK(said->incomplete);
  }
  CHECK(finding_on(state, "rng_state_2.pth")->ranks == std::vector<std::int32_t>{2});
}

/// As accelerate saves a model with two optimizers of the same state.
void write_two_optimizers(const TempDir& dir) {
  write_model(dir, "model.layers.0.self_attn.o_proj.weight",
              "model.layers.0.self_attn.q_proj.weight");
  std::filesystem::remove(dir.path("trainer_state.json"));
  std::filesystem::rename(dir.path("optimizer.pt"), dir.path("optimizer.bin"));
  std::filesystem::copy(dir.path("optimizer.bin"), dir.path("optimizer_1.bin"));
}

TEST_CASE("a second optimizer keeps its numbers and has its own facts") {
  const TempDir dir;
  write_two_optimizers(dir);
  dir.write("scheduler.bin", torch_archive(dict({{"last_epoch", integer(4)}})));
  dir.write("scheduler_2.bin", torch_archive(dict({{"last_epoch", integer(4)}})));
  dir.write("random_states_0.pkl", torch_archive(dict({{"cpu", tensor({})}})));
  const State state = state_of(dir);
  CHECK(record(state, "model.layers.0.self_attn.q_proj.weight@exp_avg") != nullptr);
  CHECK(record(state, "optimizer_1.state.0.exp_avg") != nullptr);
  CHECK(find_fact(state.facts, "scheduler.last_epoch") != nullptr);
  CHECK(find_fact(state.facts, "scheduler_2.last_epoch") != nullptr);
  CHECK(finding_on(state, "scheduler_1.bin") != nullptr);
  CHECK(finding_on(state, "random_states_0.pkl") == nullptr);
}

TEST_CASE("of several models each has its optimizer, or one has all") {
  const TempDir dir;
  write_two_optimizers(dir);
  std::filesystem::copy(dir.path("model.safetensors"), dir.path("model_1.safetensors"));
  dir.write("scheduler.bin", torch_archive(dict({{"last_epoch", integer(4)}})));
  dir.write("random_states_0.pkl", torch_archive(dict({{"cpu", tensor({})}})));
  const State state = state_of(dir);
  CHECK(std::ranges::all_of(state.findings,
                            [](const Finding& one) { return one.severity == Severity::note; }));
  for (const std::string model : {"", "model_1."}) {
    CAPTURE(model);
    CHECK(record(state, model + "model.layers.0.self_attn.q_proj.weight") != nullptr);
    CHECK(record(state, model + "model.layers.0.self_attn.q_proj.weight@exp_avg") != nullptr);
    CHECK(record(state, model + "model.layers.0.self_attn.o_proj.weight@exp_avg_sq") != nullptr);
  }
  std::filesystem::rename(dir.path("model_1.safetensors"), dir.path("model_2.safetensors"));
  std::filesystem::remove(dir.path("optimizer_1.bin"));
  const State gap = state_of(dir);
  CHECK(record(gap, "model_2.model.layers.0.self_attn.q_proj.weight") != nullptr);
  CHECK(std::ranges::any_of(gap.findings, [](const Finding& one) {
    return one.code == Code::omission && one.incomplete;
  }));
}

TEST_CASE("tensors of objects that a script registered are compared, their numbers are facts") {
  const TempDir dir;
  write_model(dir, "b.weight", "a.weight");
  dir.write("custom_checkpoint_0.pkl",
            torch_archive(dict({{"shadow", dict({{"w", tensor({})}})}, {"decay", integer(4)}})));
  const State state = state_of(dir);
  CHECK(record(state, "custom.shadow.w") != nullptr);
  CHECK(find_fact(state.facts, "custom.decay") != nullptr);
}

TEST_CASE("numbers that end a script's own names count nothing") {
  const TempDir dir;
  write_model(dir, "model.layers.0.self_attn.o_proj.weight",
              "model.layers.0.self_attn.q_proj.weight");
  std::filesystem::rename(dir.path("optimizer.pt"), dir.path("optimizer_epoch10.pt"));
  dir.write("rng_state_9223372036854775807.pth", torch_archive(dict({{"cpu", tensor({})}})));
  const State state = state_of(dir);
  CHECK(record(state, "model.layers.0.self_attn.q_proj.weight@exp_avg") != nullptr);
  for (const char* name : {"optimizer.pt", "optimizer_epoch_0.pt", "optimizer_epoch_9.pt",
                           "rng_state_0.pth", "rng_state_1.pth"}) {
    CAPTURE(name);
    CHECK(finding_on(state, name) == nullptr);
  }
}

TEST_CASE("in a directory named as a step, generators are facts") {
  const TempDir dir;
  const std::string object = dict(
      {{"w", tensor({})},
       {"rng",
        dict({{"torch",
               tensor({.storage = "ByteStorage", .count = 16, .size = {16}, .stride = {1}})}})}});
  dir.write("step-3/state.pt", torch_archive(object));
  dir.write("other/state.pt", torch_archive(object));
  Result<Run> step = open(dir.path("step-3"));
  Result<Run> plain = open(dir.path("other"));
  REQUIRE(step);
  REQUIRE(plain);
  const State of_step = step->open(0);
  CHECK(of_step.records.size() == 1);
  CHECK(find_fact(of_step.facts, "rng.torch") != nullptr);
  CHECK(plain->open(0).records.size() == 2);
}

}  // namespace
}  // namespace ttcheck::formats
