// SPDX-License-Identifier: Apache-2.0
#include "core/align/names.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

TEST_CASE("names without what only wraps") {
  struct Row {
    std::string name, unwrapped, without_adapter, bare, language_part;
  };
  const std::vector<Row> rows = {
      {"", "", "", "", ""},
      {"w", "w", "w", "w", "w"},
      {"a.b", "a.b", "a.b", "a.b", "a.b"},
      {"module.a.w", "a.w", "a.w", "a.w", "a.w"},
      {"a.module.w", "a.w", "a.w", "a.w", "a.w"},
      {"module.module.w", "w", "w", "w", "w"},
      {"a._orig_mod._fsdp_wrapped_module._checkpoint_wrapped_module.base_layer.w", "a.w", "a.w",
       "a.w", "a.w"},
      {"module", "module", "module", "module", "module"},  // a name of its own, not a wrapper
      {"a.module", "a.module", "a.module", "a.module", "a.module"},
      {"modules.w", "modules.w", "modules.w", "modules.w", "modules.w"},
      {"base_model.model.a.w", "a.w", "a.w", "a.w", "a.w"},
      {"a.base_model.model.w", "a.base_model.model.w", "a.base_model.model.w",
       "a.base_model.model.w", "a.base_model.model.w"},
      {"base_model.a", "base_model.a", "base_model.a", "base_model.a", "base_model.a"},
      {"a.modules_to_save.default.w", "a.default.w", "a.w", "a.w", "a.w"},
      {"a.modules_to_save.weight", "a.weight", "a", "a", "a"},
      {"a.lora_A.default.weight", "a.lora_A.default.weight", "a.lora_A.weight", "a.lora_A.weight",
       "a.lora_A.weight"},
      {"a.lora_A.weight", "a.lora_A.weight", "a.lora_A.weight", "a.lora_A.weight",
       "a.lora_A.weight"},
      {"a.lora_B.bias", "a.lora_B.bias", "a.lora_B.bias", "a.lora_B.bias", "a.lora_B.bias"},
      {"a.lora_C.default.weight", "a.lora_C.default.weight", "a.lora_C.default.weight",
       "a.lora_C.default.weight", "a.lora_C.default.weight"},
      {"a.lora_embedding_A.one", "a.lora_embedding_A.one", "a.lora_embedding_A",
       "a.lora_embedding_A", "a.lora_embedding_A"},
      {"a.lora_magnitude_vector.default.weight", "a.lora_magnitude_vector.default.weight",
       "a.lora_magnitude_vector", "a.lora_magnitude_vector", "a.lora_magnitude_vector"},
      {"a.lora_magnitude_vector.weight", "a.lora_magnitude_vector", "a.lora_magnitude_vector",
       "a.lora_magnitude_vector", "a.lora_magnitude_vector"},
      {"a.lora_magnitude_vector.bias", "a.lora_magnitude_vector.bias",
       "a.lora_magnitude_vector.bias", "a.lora_magnitude_vector.bias",
       "a.lora_magnitude_vector.bias"},
      {"model.a.w", "model.a.w", "model.a.w", "a.w", "a.w"},
      {"module.model.a", "model.a", "model.a", "a", "a"},
      {"model.model.a", "model.model.a", "model.model.a", "model.a", "model.a"},
      {"a.model.w", "a.model.w", "a.model.w", "a.model.w", "a.model.w"},
      {"models.a", "models.a", "models.a", "models.a", "models.a"},
      {"language_model.a", "language_model.a", "language_model.a", "language_model.a", "a"},
      {"language_model.model.a", "language_model.model.a", "language_model.model.a",
       "language_model.model.a", "a"},
      {"model.language_model.a", "model.language_model.a", "model.language_model.a",
       "language_model.a", "a"},
      {"a.language_model.w", "a.language_model.w", "a.language_model.w", "a.language_model.w",
       "a.language_model.w"},
      {"a..w", "a..w", "a..w", "a..w", "a..w"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(unwrapped(row.name) == row.unwrapped);
    CHECK(without_adapter(row.name) == row.without_adapter);
    CHECK(bare(row.name) == row.bare);
    CHECK(language_part(row.name) == row.language_part);
  }
}

TEST_CASE("every module of an adapter holds adapters by name") {
  for (const std::string part :
       {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_E", "lora_ranknum",
        "ia3_l", "vera_lambda_b", "vera_lambda_d", "lora_magnitude_vector"}) {
    INFO(part);
    CHECK(without_adapter("a." + part + ".default") == "a." + part);
    CHECK(unwrapped("a." + part + ".default") == "a." + part + ".default");
  }
}

TEST_CASE("the parameter of a master copy") {
  struct Row {
    std::string name, parameter;
  };
  const std::vector<Row> rows = {
      {"a.w@master", "a.w"},    {"a.w@masters", ""}, {"a.w", ""}, {"@master", ""}, {"", ""},
      {"a@master@exp_avg", ""},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(parameter_of_master(row.name) == row.parameter);
  }
}

TEST_CASE("how far names are apart, in parts") {
  struct Row {
    std::string a, b;
    double distance;
  };
  const std::vector<Row> rows = {
      {"", "", 0},
      {"a.b.c", "a.b.c", 0},
      {"a/b", "a.b", 0},
      {"a", "b", 1},
      {"a.b", "a", 1},
      {"a.b.c", "c", 2},
      {"a.b", "a.x.b", 1},
      {"a.x.b", "y.a.b", 2},
      {"w", "", 1},
      {"abcd", "abcx", 0.25},
      {"abcd", "abc", 0.25},
      {"abc", "abcd", 0.25},
      {"ab", "ba", 1},  // of two letters both
      {"abcd", "bcda", 0.5},
      {"layers.0.attn", "layers.1.attn", 1},
      {"layers.10.attn", "layers.11.attn", 0.5},
      {"x.abcd", "abcx", 1.25},
  };
  for (const Row& row : rows) {
    INFO(row.a, " and ", row.b);
    CHECK(part_distance(row.a, row.b) == doctest::Approx(row.distance));
    CHECK(part_distance(row.b, row.a) == doctest::Approx(row.distance));
  }
}

}  // namespace
}  // namespace ttcheck::align
