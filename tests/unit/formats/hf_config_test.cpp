#include "formats/hf_config.hpp"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace ttcheck::formats
