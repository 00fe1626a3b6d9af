// SPDX-License-Identifier: Apache-2.0
// Megatron's per-rank checkpoints, written by hand, put together again.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "formats/megatron/args.hpp"
#include "formats/open.hpp"
#include "tests/support/megatron_tree.hpp"
#include "tests/support/opened_megatron.hpp"

namespace ttcheck::formats {
namespace {

using tests::MegatronModel;
using tests::MegatronTensor;
using tests::MegatronTree;
using tests::OpenedMegatron;
using tests::TempDir;

void check_whole(const MegatronTree& tree) {
  CAPTURE(fmt::format("tp {} pp {} vpp {} ep {} etp {} experts {} tied {} swiglu {}", tree.tp,
                      tree.pp, tree.vpp, tree.ep, tree.etp, tree.experts, tree.tied, tree.swiglu));
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.run.format == "megatron-legacy");
  CHECK(opened.run.steps.front() == std::optional<std::int64_t>(10));
  CHECK(opened.said() == "");
  CHECK(opened.unreadable == 0);
  CHECK(opened.missing.empty());
  const MegatronModel whole = tree.model();
  const MegatronModel read = opened.model();
  CHECK(read.size() == whole.size());
  for (const auto& [name, tensor] : whole) {
    INFO(name);
    REQUIRE(read.contains(name));
    CHECK(read.at(name) == tensor);
  }
}

TEST_CASE("megatron-legacy: tensor, pipeline and expert parallel ranks give the whole model") {
  for (const std::int64_t tp : {1, 2, 4}) {
    for (const std::int64_t pp : {1, 2}) {
      for (const bool tied : {false, true}) {
        MegatronTree tree;
        tree.tp = tp, tree.pp = pp, tree.tied = tied;
        tree.groups = tp == 4 ? 4 : 2;
        tree.heads = 2 * tree.groups;
        tree.ffn = 12;
        tree.biases = tied;
        tree.swiglu = !tied;
        check_whole(tree);
        tree.experts = 4, tree.ffn = 4, tree.layers = 2;
        for (const std::int64_t ep : {1, 2}) {
          tree.ep = ep;
          check_whole(tree);
        }
      }
    }
  }
}

TEST_CASE("megatron-legacy: experts that are not cut over tensor parallel ranks") {
  MegatronTree tree;
  tree.tp = 2, tree.ep = 2, tree.etp = 1, tree.experts = 4, tree.layers = 2;
  const TempDir root;
  CHECK(tree.write(root, "x") == std::vector<std::string>{"mp_rank_00_000", "mp_rank_01_001"});
  check_whole(tree);
  tree.pp = 2;
  check_whole(tree);
}

TEST_CASE("megatron-legacy: where a run stands in its data is compared") {
  MegatronTree tree;
  tree.change_args = [](std::int32_t, auto& args) { args["consumed_train_samples"] = 80; };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  const Fact* samples = find_fact(opened.run.facts, "consumed_train_samples");
  REQUIRE(samples != nullptr);
  CHECK(samples->value == FactValue(std::int64_t{80}));
  CHECK(samples->use == FactUse::compared);
}

TEST_CASE("megatron-legacy: generators of ranks whose experts are cut otherwise do not meet") {
  const auto names = [](std::int64_t etp) {
    MegatronArgs args;
    args.tp = 2, args.ep = 2, args.experts = 4, args.etp = etp;
    return args.split();
  };
  CHECK(names(2) == MegatronArgs().split());
  CHECK(names(1) != names(2));
}

TEST_CASE("megatron-legacy: virtual stages and odd sizes") {
  MegatronTree tree;
  tree.pp = 2, tree.vpp = 2;
  check_whole(tree);
  tree.tp = 2, tree.ffn = 14, tree.hidden = 7, tree.vocab = 17, tree.head_dim = 5;
  check_whole(tree);
}

TEST_CASE("megatron-legacy: optimizers, by number and in buffers") {
  for (const std::int64_t tp : {1, 2}) {
    for (const std::int64_t pp : {1, 2}) {
      MegatronTree tree;
      tree.tp = tp, tree.pp = pp, tree.adam = true;
      check_whole(tree);
      tree.adam = false, tree.buffers = true, tree.tied = pp == 2;
      check_whole(tree);
    }
  }
}

TEST_CASE("megatron-legacy: experts have buffers of their own") {
  MegatronTree tree;
  tree.experts = 4, tree.ep = 2, tree.layers = 2, tree.buffers = true;
  check_whole(tree);
  tree.ep = 1;
  check_whole(tree);
}

/// Single experts joined as GroupedMLP does, in memory [experts, hidden, ffn] and [experts, ffn,
/// hidden].
void join_experts(MegatronModel& own, std::int64_t hidden) {
  MegatronModel joined;
  for (const auto& [name, tensor] : own) {
    const std::size_t at = name.find("local_experts.");
    if (at == std::string::npos) continue;
    const bool up = name.find("linear_fc1") != std::string::npos;
    MegatronTensor& all = joined[name.substr(0, at) + (up ? "weight1" : "weight2")];
    const std::int64_t rows = tensor.shape[0], columns = tensor.shape[1];
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) {
        all.values.push_back(tensor.values[static_cast<std::size_t>(row * columns + column)]);
      }
    }
    const std::int64_t rest = std::ssize(all.values) / hidden;
    all.shape = up ? std::vector{hidden, rest} : std::vector{rest, hidden};
  }
  std::erase_if(
      own, [](const auto& one) { return one.first.find("local_experts.") != std::string::npos; });
  own.merge(joined);
}

TEST_CASE("megatron-legacy: experts joined in one tensor are single ones") {
  for (const std::int64_t tp : {1, 2}) {
    MegatronTree tree;
    tree.experts = 4, tree.ep = 2, tree.tp = tp, tree.layers = 2;
    tree.change_tensors = [&](std::int64_t, MegatronModel& own) { join_experts(own, tree.hidden); };
    check_whole(tree);
  }
}

TEST_CASE("megatron-legacy: a tensor that no rule knows is not guessed") {
  MegatronTree tree;
  tree.tp = 2;
  tree.change_tensors = [](std::int64_t, MegatronModel& own) {
    own["decoder.layers.0.something.new"] = {{2}, {1, 2}};
  };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.unreadable == 1);
  CHECK(opened.count(Code::name_mapping) == 1);
  CHECK(opened.assembly.tensors.size() == tree.model().size());
}

TEST_CASE("megatron-legacy: a buffer whose order is not proved is not cut") {
  MegatronTree tree;
  tree.buffers = true;
  tree.change_masters = [](std::int64_t, MegatronModel& masters) {
    for (auto& [name, tensor] : masters) std::ranges::reverse(tensor.values);
  };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.unreadable == 3);
  CHECK(opened.first(Code::unreadable).incomplete);
  CHECK(opened.assembly.tensors.size() * 4 == tree.model().size());
}

TEST_CASE("megatron-legacy: one copy that is not its weight is said, the others are read") {
  MegatronTree tree;
  tree.buffers = true;
  tree.change_masters = [](std::int64_t, MegatronModel& masters) {
    masters.at("decoder.final_layernorm.weight").values[0] += 1;
  };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.count(Code::master_mismatch) == 1);
  CHECK(opened.first(Code::master_mismatch).tensor == "decoder.final_layernorm.weight");
  CHECK(opened.unreadable == 0);
  CHECK(opened.assembly.tensors.size() == tree.model().size());
}

TEST_CASE("megatron-legacy: copies of another step than the weights are read and said once") {
  MegatronTree tree;
  tree.buffers = true;
  tree.change_masters = [](std::int64_t, MegatronModel& masters) {
    for (auto& [name, tensor] : masters) {
      for (auto& value : tensor.values) value = value * 1.25F + 0.5F;
    }
  };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.count(Code::mixed_step) == 1);
  CHECK(opened.first(Code::mixed_step).where->file.ends_with("distrib_optim.pt"));
  CHECK(opened.count(Code::master_mismatch) == 0);
  CHECK(opened.unreadable == 0);
  CHECK(opened.assembly.tensors.size() == tree.model().size());
}

TEST_CASE("megatron-legacy: buffers that are not there leave the optimizer unchecked") {
  MegatronTree tree;
  tree.buffers = true;
  const TempDir root;
  tree.write(root, "iter_0000010");
  std::filesystem::remove(root.path("iter_0000010/mp_rank_00/distrib_optim.pt"));
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.unreadable == 1);
  CHECK(opened.first(Code::unreadable).incomplete);
}

TEST_CASE("megatron-legacy: a copy of the embedding on the last stage is the embedding") {
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2, tree.tied = true;
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  const auto embedding =
      std::ranges::find(opened.assembly.tensors, "embedding.word_embeddings.weight",
                        [](const ttcheck::Tensor& tensor) { return tensor.identity.name; });
  REQUIRE(embedding != opened.assembly.tensors.end());
  CHECK(embedding->pieces.size() == 2);
  CHECK(embedding->replicas.size() == 2);
}

TEST_CASE("MD02: rank folders that are missing, extra or there twice are named") {
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2;
  const TempDir root;
  tree.write(root, "iter_0000010");
  namespace fs = std::filesystem;
  const fs::path folder = root.path("iter_0000010");
  fs::remove_all(folder / "mp_rank_01_000");
  fs::copy(folder / "mp_rank_00_000", folder / "mp_rank_0_0", fs::copy_options::recursive);
  fs::copy(folder / "mp_rank_00_000", folder / "mp_rank_07_000", fs::copy_options::recursive);
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.missing == std::vector<std::int32_t>{1});
  CHECK(opened.first(Code::missing_rank).ranks == std::vector<std::int32_t>{1});
  CHECK(opened.first(Code::unexpected).message.find("mp_rank_0_0") != std::string::npos);
  CHECK(opened.first(Code::shape_or_dtype).message.find("mp_rank_07_000") != std::string::npos);
  CHECK(opened.assembly.tensors.size() == tree.model().size());
}

TEST_CASE("MD03: a rank file that is cut short or of another step costs that rank alone") {
  MegatronTree tree;
  tree.tp = 2;
  const TempDir root;
  tree.write(root, "iter_0000010");
  root.write("iter_0000010/mp_rank_01/model_optim_rng.pt", "PK\3\4 cut");
  const OpenedMegatron cut(root.path("iter_0000010"));
  CHECK(cut.unreadable_ranks == 1);
  CHECK(cut.count(Code::unreadable) == 1);
  CHECK(cut.assembly.tensors.size() == tree.model().size());

  const TempDir mixed;
  tree.change_args = [](std::int64_t rank, auto& args) {
    if (rank == 1) args["iteration"] = 7;
  };
  tree.write(mixed, "iter_0000010");
  const OpenedMegatron other(mixed.path("iter_0000010"));
  CHECK(other.count(Code::mixed_step) == 1);
  CHECK(other.first(Code::mixed_step).ranks == std::vector<std::int32_t>{1});
}

TEST_CASE("MD05: classes of the arguments that nobody knows are opaque") {
  MegatronTree tree;
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.findings.empty());
}

TEST_CASE("MD07: more rank files than descriptors") {
  MegatronTree tree;
  tree.tp = 300, tree.layers = 1, tree.ffn = 300, tree.heads = 300, tree.groups = 300;
  tree.head_dim = 1, tree.hidden = 2, tree.vocab = 300, tree.divisor = 1;
  check_whole(tree);
}

TEST_CASE("megatron-legacy: ranks that traded places, by what they say of themselves") {
  MegatronTree tree;
  tree.tp = 2;
  const TempDir root;
  tree.write(root, "iter_0000010");
  namespace fs = std::filesystem;
  const fs::path folder = root.path("iter_0000010");
  fs::rename(folder / "mp_rank_00", folder / "x");
  fs::rename(folder / "mp_rank_01", folder / "mp_rank_00");
  fs::rename(folder / "x", folder / "mp_rank_01");
  CHECK(OpenedMegatron(root.path("iter_0000010")).count(Code::permutation) == 2);

  const TempDir converted;  // one process wrote all files
  tree.change_args = [](std::int64_t, auto& args) { args["rank"] = 0; };
  tree.write(converted, "iter_0000010");
  CHECK(OpenedMegatron(converted.path("iter_0000010")).findings.empty());
}

TEST_CASE("megatron-legacy: arguments that contradict the tensors") {
  MegatronTree tree;
  tree.tp = 2;
  tree.change_args = [](std::int64_t, auto& args) { args["hidden_size"] = 5; };
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.count(Code::shape_or_dtype) > 0);
  CHECK(opened.assembly.tensors.size() == tree.model().size());

  tree.change_args = [](std::int64_t, auto& args) { args["num_layers"] = 7; };
  const TempDir layers;
  tree.write(layers, "iter_0000010");
  CHECK(OpenedMegatron(layers.path("iter_0000010")).count(Code::layer_mapping) == 1);

  tree.change_args = [](std::int64_t, auto& args) { args["vocab_size"] = -1; };
  const TempDir vocabulary;
  tree.write(vocabulary, "iter_0000010");
  const OpenedMegatron untrimmed(vocabulary.path("iter_0000010"));
  CHECK(untrimmed.count(Code::padding, Severity::note) == 1);
  CHECK(untrimmed.model().at("output_layer.weight").shape[0] == tree.padded_vocab());
}

TEST_CASE("megatron-legacy: hostile sizes end in an error") {
  for (const char* name :
       {"tensor_model_parallel_size", "world_size", "num_experts", "pipeline_model_parallel_size",
        "expert_model_parallel_size", "virtual_pipeline_model_parallel_size", "num_layers"}) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-5}, std::int64_t{3}, std::int64_t{1} << 20, INT64_MAX}) {
      MegatronTree tree;
      tree.experts = 2, tree.layers = 1;
      tree.change_args = [&](std::int64_t, auto& args) { args[name] = value; };
      const TempDir root;
      tree.write(root, "iter_0000010");
      const Result<Run> run = open(root.path("iter_0000010"));
      if (!run) continue;
      const State state = run->open(0);
      CHECK(state.records.size() + state.findings.size() > 0);
    }
  }
}

TEST_CASE("megatron-legacy: a series, and a release") {
  MegatronTree tree;
  const TempDir root;
  tree.write(root, "iter_0000010");
  tree.iteration = 20;
  tree.write(root, "iter_0000020");
  root.write("latest_checkpointed_iteration.txt", "20");
  const Run series = OpenedMegatron::must_open(root.path());
  CHECK(series.format == "megatron-legacy");
  CHECK(series.steps.size() == 2);
  CHECK(series.findings.empty());

  const TempDir released;
  tree.write(released, "release");
  released.write("latest_checkpointed_iteration.txt", "release");
  const Run release = OpenedMegatron::must_open(released.path());
  CHECK(release.format == "megatron-legacy");
  CHECK(release.steps == std::vector<std::optional<std::int64_t>>{20});
}

}  // namespace
}  // namespace ttcheck::formats
