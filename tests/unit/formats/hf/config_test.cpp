// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/config.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ttcheck::formats {
namespace {

TEST_CASE("what scales an adapter's update is compared, what trained it is a note") {
  const JsonDocument config(
      R"({"peft_type": "LORA", "r": 3, "lora_alpha": 5, "use_rslora": true, "lora_dropout": 0.1,
          "alpha_pattern": {"v_proj": 7}, "rank_pattern": {}})",
      "adapter_config.json");
  const std::vector<Fact> facts = adapter_facts(config.root());
  const auto use = [&](std::string_view name) {
    const Fact* fact = find_fact(facts, name);
    REQUIRE(fact);
    return fact->use;
  };
  CHECK(use("adapter.r") == FactUse::compared);
  CHECK(use("adapter.lora_alpha") == FactUse::compared);
  CHECK(use("adapter.use_rslora") == FactUse::compared);
  CHECK(use("adapter.alpha_pattern.v_proj") == FactUse::compared);
  CHECK(use("adapter.lora_dropout") == FactUse::note);
}

TEST_CASE("a width of heads that latent attention does not use is a note") {
  const auto use = [](const char* text) {
    const JsonDocument config(text, "config.json");
    const std::vector<Fact> facts = config_facts(config.root());
    const Fact* fact = find_fact(facts, "model.head_dim");
    REQUIRE(fact);
    return fact->use;
  };
  CHECK(use(R"({"head_dim": 8})") == FactUse::compared);
  CHECK(use(R"({"head_dim": 8, "kv_lora_rank": 16, "qk_rope_head_dim": 8})") == FactUse::note);
}

/// `name=value` of those that are compared, and `name~value` of defaults.
std::vector<std::string> compared(const char* text) {
  const JsonDocument config(text, "config.json");
  std::vector<std::string> lines;
  for (const Fact& fact : config_facts(config.root())) {
    CHECK(fact.source == FactSource::config);
    if (fact.use != FactUse::compared) continue;
    lines.push_back(fact.name + (fact.assumed ? "~" : "=") + to_string(fact.value));
  }
  return lines;
}

TEST_CASE("S6 nested values and keys that shape the function are compared") {
  using Lines = std::vector<std::string>;
  CHECK(compared(R"({"architectures": ["X"], "attention_bias": false, "layer_types": ["a", "b"],
                     "quantization_config": {"num_bits": 8, "method": "fp8"}, "use_cache": true,
                     "rope_scaling": {"type": "linear", "factor": 2, "low_freq_factor": 1.5}})") ==
        Lines{"model.rope_type=linear", "model.rope_factor=2", "config.attention_bias=false",
              R"(config.layer_types=["a","b"])",
              R"(config.quantization_config={"method":"fp8","num_bits":8})",
              "model.rope.low_freq_factor=1.5"});
}

TEST_CASE("a config of very many keys takes no time for each pair of them") {
  constexpr int kMany = 400'000;  // of pairs of which looking one by one takes minutes
  std::string text = R"({"attention_bias": false)";
  for (int i = 0; i < kMany; ++i) text += fmt::format(",\"k{}\":{}", i, i);
  const JsonDocument config(text + "}", "config.json");
  const std::vector<Fact> facts = config_facts(config.root());
  REQUIRE(facts.size() == kMany + 1);  // what shapes the function is no note beside that
  CHECK(facts.front().name == "config.attention_bias");
  CHECK(facts.front().use == FactUse::compared);
  CHECK(facts.back().name == fmt::format("config.k{}", kMany - 1));
}

TEST_CASE("S6 a known type's silence stands for the framework's default") {
  const auto lines = compared(R"({"model_type": "mixtral", "rms_norm_eps": 0.5})");
  const auto has = [&](const char* line) { return std::ranges::find(lines, line) != lines.end(); };
  CHECK(has("model.norm_eps=0.5"));
  CHECK_FALSE(has("model.norm_eps~1e-05"));
  CHECK(has("model.rope_theta~1000000"));
  CHECK(has("model.tied_embeddings~false"));
  CHECK(compared(R"({"model_type": "of-nobody"})") ==
        std::vector<std::string>{"model.type=of-nobody"});
}

}  // namespace
}  // namespace ttcheck::formats
