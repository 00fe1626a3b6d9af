// SPDX-License-Identifier: Apache-2.0
// Rules of frameworks as the base of a layout, on files of ranks.

#include "formats/rank_files/layout_base.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

/// The rule that a layout with this base gives a name, as a line; empty for none.
std::string dims_of(std::string_view base, const Mesh& mesh, std::string_view name) {
  Layout layout;
  layout.base = base;
  layout.mesh = mesh;
  add_layout_base(layout);
  for (const TensorRule& rule : layout.tensors) {
    if (rule.glob->matches(name)) return to_string(*rule.dims);
  }
  return "";
}

TEST_CASE("base hf: the tensor-parallel plan of decoders") {
  const Mesh mesh{{{"tp", 2}}, {}, {}};
  const std::map<std::string, std::string> expected = {
      {"model.layers.0.self_attn.q_proj.weight", "x[tp] y"},
      {"model.layers.0.self_attn.q_proj.weight@exp_avg", "x[tp] y"},
      {"model.layers.0.self_attn.v_proj.bias", "x[tp]"},
      {"model.layers.0.self_attn.o_proj.weight", "x y[tp]"},
      {"model.layers.0.self_attn.o_proj.bias", "*"},
      {"model.layers.1.mlp.gate_proj.weight", "x[tp] y"},
      {"model.layers.1.mlp.down_proj.weight@master", "x y[tp]"},
      {"model.layers.1.mlp.down_proj.weight@step", "*"},
      {"model.layers.1.input_layernorm.weight", "*"},
      {"model.embed_tokens.weight", "*"},
      {"lm_head.weight", "x[tp] y"},
  };
  for (const auto& [name, dims] : expected) {
    CAPTURE(name);
    CHECK(dims_of("hf", mesh, name) == dims);
  }
}

TEST_CASE("base fsdp2: rows over the axis that shards") {
  CHECK(dims_of("fsdp2", Mesh{{{"dp", 2}}, {}, {}}, "a.weight") == "x[dp] *");
  CHECK(dims_of("fsdp2", Mesh{{{"dp", 2}, {"fsdp", 2}}, {}, {}}, "a.weight") == "x[fsdp] *");
  CHECK(dims_of("fsdp2", Mesh{{{"dp_replicate", 2}, {"dp_shard", 2}}, {}, {}}, "a.bias") ==
        "x[dp_shard] *");
  CHECK(dims_of("fsdp2", Mesh{{{"dp", 2}}, {}, {}}, "a.weight@step") == "*");
  CHECK(dims_of("none", Mesh{{{"dp", 2}}, {}, {}}, "a.weight").empty());
}

TEST_CASE("base fsdp2: ranks' files make whole tensors, but for those with a rule of their own") {
  const tests::TempDir dir;
  for (const int rank : {0, 1}) {
    dir.write(fmt::format("part{}.safetensors", rank), tests::small_safetensors("block.weight"));
  }
  dir.write("layout.toml", R"(layout = 1
base = "fsdp2"
[mesh]
axes = ["dp=2"]
[files]
pattern = "part{dp}.safetensors"
)");
  const auto shape = [&] {
    Result<Run> run = open(dir.path());
    REQUIRE(run);
    const State state = run->open(0);
    REQUIRE(!state.records.empty());
    CHECK(state.findings.empty());
    return to_string(*state.records.front().placement);
  };
  CHECK(shape() == "x[dp] *");
  dir.write("layout.toml", R"(layout = 1
base = "fsdp2"
[mesh]
axes = ["dp=2"]
[files]
pattern = "part{dp}.safetensors"
[[tensor]]
match = "block.*"
dims = "*"
)");
  CHECK(shape() == "*");
}

}  // namespace
}  // namespace ttcheck::formats
