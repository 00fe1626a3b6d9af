// SPDX-License-Identifier: Apache-2.0
// Faults of Megatron's checkpoints, a table a form: what is said of each, and what can still be
// compared.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "formats/megatron/vocabulary.hpp"
#include "tests/support/megatron_core_tree.hpp"
#include "tests/support/opened_megatron.hpp"

namespace ttcheck::formats {
namespace {

namespace fs = std::filesystem;
using tests::MegatronCoreTree;
using tests::MegatronModel;
using tests::MegatronTree;
using tests::OpenedMegatron;
using tests::TempDir;

void exchange(const fs::path& a, const fs::path& b) {
  fs::rename(a, a.string() + ".x");
  fs::rename(b, a);
  fs::rename(a.string() + ".x", b);
}

void cut_in_half(const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }

/// `code`, if it is said, `least` of the tensors whole, all others with holes.
void check_said(const OpenedMegatron& opened, Code code, std::size_t tensors, std::size_t whole) {
  const std::string said = opened.said();
  CAPTURE(said);
  CHECK(opened.count(code) > 0);
  CHECK(opened.assembly.tensors.size() == tensors);
  const auto left = std::ranges::count_if(
      opened.assembly.tensors, [](const ttcheck::Tensor& tensor) { return tensor.holes.empty(); });
  CHECK(left == static_cast<std::ptrdiff_t>(whole));
}

struct LegacyFault {
  const char* what;
  std::function<void(MegatronTree& tree)> change;
  std::function<void(const fs::path& folder)> damage;
  Code code;
  std::size_t open = 0;  ///< tensors with holes
};

void args_of(MegatronTree& tree, const char* name, std::int64_t value) {
  tree.change_args = [=](std::int64_t, auto& args) { args[name] = value; };
}

TEST_CASE("megatron-legacy: faults, and what is left of the model") {
  const auto none = [](MegatronTree&) {};
  const auto nothing = [](const fs::path&) {};
  // Of 4 layers each has 4 tensors that are cut, and 2 that are not; 1 norm; 2 vocabularies.
  constexpr std::size_t kCut = 4 * 4 + 2;
  const LegacyFault faults[] = {
      {"a rank's directory", none, [](const fs::path& at) { fs::remove_all(at / "mp_rank_01"); },
       Code::missing_rank, kCut},
      {"a rank's file", none,
       [](const fs::path& at) { fs::remove(at / "mp_rank_01/model_optim_rng.pt"); },
       Code::missing_rank, kCut},
      {"a rank's file cut short", none,
       [](const fs::path& at) { cut_in_half(at / "mp_rank_01/model_optim_rng.pt"); },
       Code::unreadable, kCut},
      {"exchanged ranks", none,
       [](const fs::path& at) {
         exchange(at / "mp_rank_00/model_optim_rng.pt", at / "mp_rank_01/model_optim_rng.pt");
       },
       Code::permutation},
      {"a rank of another step",
       [](MegatronTree& tree) {
         tree.change_args = [](std::int64_t rank, auto& args) {
           if (rank == 1) args["iteration"] = 7;
         };
       },
       nothing, Code::mixed_step},
      {"the hidden size", [](MegatronTree& tree) { args_of(tree, "hidden_size", 5); }, nothing,
       Code::shape_or_dtype},
      {"the number of layers", [](MegatronTree& tree) { args_of(tree, "num_layers", 7); }, nothing,
       Code::layer_mapping},
      {"the vocabulary", [](MegatronTree& tree) { args_of(tree, "vocab_size", 7); }, nothing,
       Code::padding},
  };
  for (const LegacyFault& fault : faults) {
    CAPTURE(fault.what);
    MegatronTree tree;
    tree.tp = 2;
    fault.change(tree);
    const TempDir root;
    tree.write(root, "iter_0000010");
    fault.damage(fs::path(root.path("iter_0000010")));
    const std::size_t tensors = tree.model().size();
    check_said(OpenedMegatron(root.path("iter_0000010")), fault.code, tensors,
               tensors - fault.open);
  }
}

TEST_CASE("megatron-legacy: a rank's file that is not there is named") {
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2, tree.buffers = true;
  const TempDir root;
  tree.write(root, "iter_0000010");
  fs::remove(root.path("iter_0000010/mp_rank_01_001/model_optim_rng.pt"));
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.missing == std::vector<std::int32_t>{3});
  CHECK(opened.count(Code::unreadable) == 0);
  CHECK(opened.count(Code::missing_rank) == 1);
  CHECK(opened.count(Code::missing_rank, Severity::note) == 1);
  CHECK(opened.first(Code::missing_rank).message.find("mp_rank_01_001/model_optim_rng.pt") !=
        std::string::npos);
}

TEST_CASE("megatron-legacy: a rank of experts that are not cut along tp is missed alone") {
  MegatronTree tree;
  tree.tp = 2, tree.ep = 2, tree.etp = 1, tree.experts = 4, tree.layers = 2;
  const TempDir root;
  tree.write(root, "iter_0000010");
  fs::remove_all(root.path("iter_0000010/mp_rank_01_001"));
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.count(Code::missing_rank) == 1);
  CHECK(opened.count(Code::omission) == 0);
  CHECK(opened.assembly.tensors.size() == tree.model().size() - 2 * 2 * 2);
}

TEST_CASE("megatron-legacy: a number of words that does not pad to the rows trims nothing") {
  for (const std::int64_t words : {1, 9, 12, 19}) {
    CAPTURE(words);
    MegatronTree tree;  // 13 words, in multiples of 3 on 2 ranks
    tree.tp = 2;
    args_of(tree, "vocab_size", words);
    const TempDir root;
    tree.write(root, "iter_0000010");
    const OpenedMegatron opened(root.path("iter_0000010"));
    CHECK(opened.count(Code::padding) == 1);
    CHECK(opened.model().at("output_layer.weight").shape[0] == tree.padded_vocab());
    CHECK(find_fact(opened.run.facts, "parallel.padding_rows") == nullptr);
  }
  MegatronTree tree;
  const TempDir root;
  tree.write(root, "iter_0000010");
  const OpenedMegatron trimmed(root.path("iter_0000010"));
  const Fact* rows = find_fact(trimmed.run.facts, "parallel.padding_rows");
  REQUIRE(rows != nullptr);
  CHECK(to_string(rows->value) == "13 to 14, left out");
}

TEST_CASE("megatron-legacy: the padding of another run, and a word that is not counted") {
  MegatronArgs args;
  args.tp = 2, args.vocab_multiple = 8;
  const auto settled = [&](std::int64_t words, std::int64_t rows) {
    MegatronArgs own = args;
    own.vocab = words;
    std::vector<Finding> findings;
    settle_vocabulary(own, rows, findings);
    CHECK(findings.empty() == (own.vocab == words));
    return own.vocab;
  };
  CHECK(settled(131, 144) == 131);
  CHECK(settled(131, 136) == 0);
  CHECK(settled(144, 144) == 144);
  CHECK(settled(144, 160) == 0);
  CHECK(settled(std::int64_t{1} << 40, 8) == 0);
  CHECK(settled(131, INT64_MAX) == 0);
  args.extra_word = true;
  CHECK(settled(144, 160) == 144);
  args.extra_word = false, args.loaded = true;
  CHECK(settled(131, 136) == 131);  // of one rank
  CHECK(settled(131, 160) == 131);  // of four
  CHECK(settled(131, 152) == 0);
}

TEST_CASE("megatron-legacy: a number of experts that the files contradict") {
  for (const std::int64_t stated : {-1, 2, 8}) {
    CAPTURE(stated);
    MegatronTree tree;
    tree.experts = 4, tree.ep = 2, tree.layers = 2;
    args_of(tree, "num_experts", stated);
    const TempDir root;
    tree.write(root, "iter_0000010");
    const OpenedMegatron opened(root.path("iter_0000010"));
    CHECK(opened.count(Code::shape_or_dtype) > 0);
    CHECK(opened.assembly.tensors.size() == tree.model().size());
    CHECK(
        opened.model().contains("decoder.layers.1.mlp.experts.local_experts.3.linear_fc1.weight"));
  }
}

TEST_CASE("megatron-legacy: groups, layers and channels that the files contradict") {
  const std::pair<const char*, std::int64_t> dense[] = {{"tensor_model_parallel_size", 1},
                                                        {"tensor_model_parallel_size", 4},
                                                        {"pipeline_model_parallel_size", 1},
                                                        {"pipeline_model_parallel_size", 4},
                                                        {"world_size", 1},
                                                        {"context_parallel_size", 3},
                                                        {"num_layers", 8},
                                                        {"ffn_hidden_size", 12}};
  const std::pair<const char*, std::int64_t> experts[] = {{"expert_model_parallel_size", 1},
                                                          {"expert_model_parallel_size", 4},
                                                          {"moe_ffn_hidden_size", 8},
                                                          {"num_experts", 3}};
  const auto check = [](MegatronTree tree, const auto& stated) {
    CAPTURE(stated.first);
    CAPTURE(stated.second);
    args_of(tree, stated.first, stated.second);
    const TempDir root;
    tree.write(root, "iter_0000010");
    const OpenedMegatron opened(root.path("iter_0000010"));
    CHECK(opened.count(Code::shape_or_dtype) + opened.count(Code::layer_mapping) > 0);
    CHECK(opened.model() == tree.model());
  };
  MegatronTree tree;
  tree.tp = 2, tree.pp = 2;
  for (const auto& stated : dense) check(tree, stated);
  MegatronTree mixture;
  mixture.experts = 4, mixture.ep = 2, mixture.layers = 2;
  for (const auto& stated : experts) check(mixture, stated);
}

TEST_CASE("megatron-legacy: buffers in each other's places are named, and read as they lie") {
  MegatronTree tree;
  tree.tp = 2, tree.buffers = true;
  const TempDir root;
  tree.write(root, "iter_0000010");
  const fs::path at = root.path("iter_0000010");
  exchange(at / "mp_rank_00/distrib_optim.pt", at / "mp_rank_01/distrib_optim.pt");
  const OpenedMegatron opened(at.string());
  CHECK(opened.count(Code::permutation) == 2);
  CHECK(opened.unreadable == 0);
  const MegatronModel whole = tree.model(), read = opened.model();
  REQUIRE(read.size() == whole.size());
  for (const auto& [name, tensor] : whole) {
    CAPTURE(name);
    REQUIRE(read.contains(name));
    const bool cut = name.find("layernorm") == std::string::npos;
    const bool optimizer = name.find('@') != std::string::npos;
    CHECK((read.at(name) == tensor) == !(cut && optimizer));
  }
}

TEST_CASE("megatron-legacy: buffers of another stage, of other sizes, are not read") {
  MegatronTree tree;
  tree.pp = 2, tree.buffers = true, tree.tied = false;
  const TempDir root;
  tree.write(root, "iter_0000010");
  const fs::path at = root.path("iter_0000010");
  exchange(at / "mp_rank_00_000/distrib_optim.pt", at / "mp_rank_00_001/distrib_optim.pt");
  const OpenedMegatron opened(at.string());
  CHECK(opened.count(Code::permutation) == 2);
  CHECK(opened.unreadable > 0);
  for (const auto& [name, tensor] : opened.model()) {
    CHECK(name.find('@') == std::string::npos);
  }
}

struct CoreFault {
  const char* what;
  std::function<void(MegatronCoreTree& tree)> change;
  std::function<void(const fs::path& folder)> damage;
  Code code;
  std::size_t open = 0;   ///< tensors with holes
  std::size_t fewer = 0;  ///< tensors that are not there at all
};

TEST_CASE("megatron-core: faults, and what is left of the model") {
  const auto none = [](MegatronCoreTree&) {};
  const auto nothing = [](const fs::path&) {};
  const auto stated = [](const char* name, std::int64_t value) {
    return [=](MegatronCoreTree& tree) { tree.args[name] = value; };
  };
  const CoreFault faults[] = {
      {"a rank's file", none, [](const fs::path& at) { fs::remove(at / "__1_0.distcp"); },
       Code::missing_rank, 4},
      {"a rank's file cut short", none,
       [](const fs::path& at) { fs::resize_file(at / "__1_0.distcp", 100); }, Code::unreadable, 4},
      {"exchanged files", none,
       [](const fs::path& at) { exchange(at / "__0_0.distcp", at / "__1_0.distcp"); },
       Code::unreadable, 2, 1},
      {"another step", [](MegatronCoreTree& tree) { tree.iteration = 7; }, nothing,
       Code::mixed_step},
      {"a table that promises more rows", [](MegatronCoreTree& tree) { tree.rows = 24; }, nothing,
       Code::omission, 1},
      {"a table without one chunk", [](MegatronCoreTree& tree) { tree.without_place = true; },
       nothing, Code::omission, 1},
      {"the hidden size", stated("hidden_size", 5), nothing, Code::shape_or_dtype},
      {"the number of layers", stated("num_layers", 3), nothing, Code::layer_mapping},
      {"the vocabulary", stated("vocab_size", 7), nothing, Code::padding},
  };
  for (const CoreFault& fault : faults) {
    CAPTURE(fault.what);
    MegatronCoreTree tree;
    fault.change(tree);
    const TempDir root;
    tree.write(root, "iter_0000010");
    fault.damage(fs::path(root.path("iter_0000010")));
    const std::size_t tensors = MegatronCoreTree::kTensors - fault.fewer;
    check_said(OpenedMegatron(root.path("iter_0000010")), fault.code, tensors,
               tensors - fault.open);
  }
  MegatronCoreTree sound;
  const TempDir root;
  sound.write(root, "iter_0000010");
  const OpenedMegatron opened(root.path("iter_0000010"));
  CHECK(opened.said() == "");
  CHECK(opened.assembly.tensors.size() == MegatronCoreTree::kTensors);
  CHECK(opened.model().at("output_layer.weight").shape[0] == 13);
}

}  // namespace
}  // namespace ttcheck::formats
