// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/defaults.hpp"

#include <doctest/doctest.h>

namespace ttcheck::formats {
namespace {

TEST_CASE("what transformers takes where a config is silent") {
  CHECK(hf_default("llama", "model.rope_theta") == FactValue(10000.0));
  CHECK(hf_default("llama", "model.norm_eps") == FactValue(1e-6));
  CHECK(hf_default("llama", "model.tied_embeddings") == FactValue(false));
  CHECK(hf_default("llama", "model.activation") == FactValue("silu"));
  CHECK(hf_default("llama", "model.heads") == FactValue(std::int64_t{32}));
  CHECK(hf_default("gpt2", "model.tied_embeddings") == FactValue(true));
  CHECK(hf_default("mixtral", "model.rope_theta") == FactValue(1e6));
  CHECK_FALSE(hf_default("llama", "model.kv_heads"));  // as many as heads
  CHECK_FALSE(hf_default("llama", "model.layers"));    // the weights show it
  CHECK_FALSE(hf_default("lla", "model.rope_theta"));
  CHECK_FALSE(hf_default("", "model.rope_theta"));
  CHECK_FALSE(hf_default("some-other", "model.rope_theta"));
}

}  // namespace
}  // namespace ttcheck::formats
