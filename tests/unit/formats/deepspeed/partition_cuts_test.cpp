// SPDX-License-Identifier: Apache-2.0
// Names of DeepSpeed's files, and the arithmetic of its partitions.

#include <doctest/doctest.h>

#include "core/base/error.hpp"
#include "formats/deepspeed/experts.hpp"
#include "formats/deepspeed/file_names.hpp"
#include "formats/deepspeed/partition_cuts.hpp"
#include "formats/deepspeed/tp_blocks.hpp"

namespace ttcheck::formats {
namespace {

TEST_CASE("deepspeed: files by their names, in the order of numbers") {
  const auto files = deepspeed_files(
      {"bf16_zero_pp_rank_10_mp_rank_00_optim_states.pt",
       "bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt", "mp_rank_01_model_states.pt",
       "zero_pp_rank_3_mp_rank_00_model_states.pt", "layer_04-model_states.pt",
       "layer_05-model_01-model_states.pt", "layer_2_expert_7_mp_rank_00_model_states.pt",
       "expert_3_mp_rank_01_model_states.pt", "expp_rank_1_mp_rank_00_optim_states.pt",
       "zero_pp_rank_0_mp_rank_02optim_states.pt", "latest", "mp_rank__model_states.pt",
       "mp_rank_99999999_model_states.pt", "mp_rank_00_optim_states.pt",
       "layer_1-model_states.bin"});
  std::vector<std::string> names;
  for (const DeepspeedFile& file : files) names.push_back(file.path);
  CHECK(names ==
        std::vector<std::string>{
            "zero_pp_rank_3_mp_rank_00_model_states.pt", "mp_rank_01_model_states.pt",
            "bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt",
            "bf16_zero_pp_rank_10_mp_rank_00_optim_states.pt",
            "zero_pp_rank_0_mp_rank_02optim_states.pt", "expp_rank_1_mp_rank_00_optim_states.pt",
            "layer_04-model_states.pt", "layer_05-model_01-model_states.pt",
            "layer_2_expert_7_mp_rank_00_model_states.pt", "expert_3_mp_rank_01_model_states.pt"});
  const auto layer = parse_deepspeed_name("layer_05-model_01-model_states.pt");
  CHECK(layer->layer == 5);
  CHECK(layer->mp == 1);
  CHECK(same_place(*parse_deepspeed_name("mp_rank_00_model_states.pt"),
                   *parse_deepspeed_name("mp_rank_000_model_states.pt")));
}

TEST_CASE("deepspeed: parts of a group's row, with what lies between parameters") {
  const std::vector<Candidate> group = {{"a", {2, 3}}, {"b", {}}, {"c", {4}}};
  const std::vector<std::int64_t> none;
  CHECK(starts_of(group, none) == std::vector<std::int64_t>{0, 6, 7, 11});
  const std::vector<std::int64_t> between = {2, 0, 1};
  const auto starts = starts_of(group, between);
  CHECK(starts == std::vector<std::int64_t>{0, 8, 9, 14});
  CHECK(cuts_of_part(group, starts, 0, 7) == std::vector<Cut>{{0, 0, 0, 6}});
  CHECK(cuts_of_part(group, starts, 7, 7) == std::vector<Cut>{{1, 1, 0, 1}, {2, 2, 0, 4}});
  CHECK(cuts_of_part(group, starts, 10, 2) == std::vector<Cut>{{2, 0, 1, 2}});
  CHECK(cuts_of_part(group, starts, 14, 7).empty());
  const std::vector<Candidate> huge = {{"a", {INT64_MAX}}, {"b", {2}}};
  CHECK_THROWS_AS(starts_of(huge, none), Error);
}

TEST_CASE("deepspeed: parameters cut alone, shorter than the world too") {
  const std::vector<Candidate> parameters = {{"a", {5}}, {"gain", {1}}, {"c", {2, 2}}};
  std::int64_t length = 0;
  CHECK(cuts_alone(parameters, 0, 2, length) ==
        std::vector<Cut>{{0, 0, 0, 3}, {1, 3, 0, 1}, {2, 4, 0, 2}});
  CHECK(length == 6);
  CHECK(cuts_alone(parameters, 1, 2, length) == std::vector<Cut>{{0, 0, 3, 2}, {2, 4, 2, 2}});
}

TEST_CASE("deepspeed: experts by global numbers") {
  const std::string local = "m.deepspeed_moe.experts.deepspeed_experts.1.up.weight";
  const auto counts = count_experts({{local, {1}}, {"m.gate.weight", {1}}});
  CHECK(counts.at("m.deepspeed_moe.experts") == 2);
  CHECK(global_expert_name(local, 3, counts) ==
        "m.deepspeed_moe.experts.deepspeed_experts.7.up.weight");
  CHECK(global_expert_name("m.gate.weight", 3, counts) == "m.gate.weight");
  CHECK_FALSE(parse_expert_name("m.deepspeed_experts.x.up"));
  CHECK_FALSE(parse_expert_name("m.deepspeed_experts.9223372036854775807.up"));
}

TEST_CASE("deepspeed: blocks of tensor-parallel ranks") {
  const std::optional<DeepspeedRules> none;
  const DeepspeedPlace second{none, 1, 2};
  const auto block = [&](std::string_view name, const Shape& shape) {
    return blocks_of(name, shape, second).at(0);
  };
  CHECK(block("h.0.mlp.dense_h_to_4h.weight", {4, 3}).logical == Shape{8, 3});
  CHECK(block("h.0.mlp.dense_4h_to_h.weight@exp_avg", {4, 3}).lo == Extents{0, 3});
  CHECK(block("h.0.input_layernorm.weight", {4}).logical == Shape{4});
  CHECK(blocks_of("h.0.w", {4}, {none, 0, 1}).at(0).logical == Shape{4});
}

TEST_CASE("deepspeed: expressions for names, as re.match reads them") {
  const auto fits = [](std::string_view expression, std::string_view name) {
    const auto pattern = DeepspeedPattern::parse(expression);
    return pattern ? (pattern->matches(name) ? 1 : 0) : -1;
  };
  CHECK(fits("a.b", "a.b.c") == 1);  // from the start, not to the end
  CHECK(fits("a.b$", "a.b.c") == 0);
  CHECK(fits("^a\\.b$", "a.b") == 1);
  CHECK(fits("a\\.b", "axb") == 0);
  CHECK(fits("\\d+.mlp.dense_4h_to_h.weight", "12.mlp.dense_4h_to_h.weight") == 1);
  CHECK(fits("\\d+.mlp", "x.mlp") == 0);
  CHECK(fits("\\d+.mlp", ".mlp") == 0);
  CHECK(fits(".*norm.*", "h.0.layernorm.weight") == 1);
  CHECK(fits(".*norm$", "h.0.layernorm.weight") == 0);
  CHECK(fits("[a-c_]*[^x]?z", "abc_yz") == 1);
  CHECK(fits("[a-c_]*[^x]?z", "abc_xz") == 0);
  CHECK(fits("[\\.-z]", "0") == 1);  // a range as well, though its first end is escaped
  CHECK(fits("[\\.-]", "-") == 1);
  CHECK(fits("ab?c", "ac") == 1);
  CHECK(fits("", "anything") == 1);
  for (const std::string_view other : {"(a|b)", "a{2}", "[a", "a\\", "a\\b", "*a", "a**", "a$b",
                                       "[\\d-z]", "[\\z-a]", "[\\--\\.]", "[a-\\.]"}) {
    CHECK(fits(other, "a") == -1);
  }
  CHECK(fits(std::string(2000, 'a'), "a") == -1);
  CHECK(fits(std::string(50, 'a') + "b*" + std::string(100, 'c'), "a") == -1);
}

}  // namespace
}  // namespace ttcheck::formats
