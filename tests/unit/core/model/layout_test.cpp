// SPDX-License-Identifier: Apache-2.0
#include "core/model/layout.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/error.hpp"
#include "core/model/layout_use.hpp"
#include "core/model/rename.hpp"

namespace ttcheck {
namespace {

const char* const kLayout = R"toml(layout = 1
base = "none"
[mesh]
axes = ["pp=2", "dp=1", "cp=1", "tp=4"]
expert = ["pp=2", "edp=2", "ep=2", "etp=1"]
[files]
pattern = "iter_{step}/mp_rank_{tp}_{pp}/model_optim_rng.pt"
root = "model{vpp}"
[model]
layers = 32
vocab = 32000
experts = 8
vpp = 2
[[tensor]]
match = "**.linear_qkv.weight"
dims  = "qkv[tp] h"
[[tensor]]
match = "flat"
dims = "flat[dp:align=8]"
shape = [5, 7]
[[rename]]
match = "decoder.layers.{l}.**"
to    = "decoder.layers.{l + first_layer(pp,vpp)}.**"
[[rename]]
match = "**.local_experts.{e}.**"
to    = "**.local_experts.{e + ep*experts_per_rank}.**"
[[map]]
reference = "model.layers.{l}.self_attn.{q,k,v}_proj.weight"
candidate = "decoder.layers.{l}.self_attention.linear_qkv.weight"
op = "qkv_interleave(heads, kv_heads, head_dim)"
)toml";

std::string message(const std::string& text) {
  try {
    parse_layout(text, "layout.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a layout file") {
  const Layout layout = parse_layout(kLayout, "layout.toml");
  CHECK(layout.mesh.world_size() == 8);
  CHECK(layout.mesh.size_of("ep") == 2);
  CHECK(layout.root == "model{vpp}");
  CHECK(layout.model.at("vocab") == 32000);
  REQUIRE(layout.tensors.size() == 2);
  CHECK(to_string(*layout.tensors[0].dims) == "qkv[tp] h");
  CHECK(layout.tensors[0].line == 14);
  CHECK(layout.tensors[1].shape == Shape{5, 7});
  REQUIRE(layout.maps.size() == 1);
  CHECK(layout.maps[0].op == "qkv_interleave(heads, kv_heads, head_dim)");
  CHECK(parse_layout("[[map]]\nreference = \"a\"\ncandidate = \"b\"\n", "m").maps[0].op == "same");
}

TEST_CASE("paths give coordinates, of the expert order, too") {
  const Layout layout = parse_layout(kLayout, "layout.toml");
  std::optional<std::int64_t> step;
  const auto at = match_path(layout, "iter_0000012/mp_rank_03_001/model_optim_rng.pt", &step);
  REQUIRE(at);
  CHECK(step == 12);
  CHECK(*at ==
        Coordinates{{"pp", 1}, {"dp", 0}, {"cp", 0}, {"tp", 3}, {"edp", 1}, {"ep", 1}, {"etp", 0}});
  CHECK_FALSE(match_path(layout, "iter_1/mp_rank_3/model_optim_rng.pt", &step));

  const Layout by_rank = parse_layout(
      "layout = 1\n[mesh]\naxes = [\"pp=2\", \"tp=2\"]\n[files]\npattern = \"rank_{rank}.pt\"\n",
      "l");
  CHECK(match_path(by_rank, "rank_2.pt", nullptr) == Coordinates{{"pp", 1}, {"tp", 0}});
  CHECK_THROWS_AS(match_path(by_rank, "rank_4.pt", nullptr), Error);
}

TEST_CASE("renames give global layer and expert numbers") {
  const Layout layout = parse_layout(kLayout, "layout.toml");
  const Coordinates at{{"pp", 1}, {"vpp", 1}, {"ep", 1}};
  // 32 layers in 4 chunks of 8; chunk vpp=1 of stage 1 is the last: 24 + 3.
  CHECK(global_name(layout, "decoder.layers.3.mlp.local_experts.2.w", at) ==
        "decoder.layers.27.mlp.local_experts.6.w");
  CHECK(global_name(layout, "decoder.layers.0.x", {{"pp", 1}}) == "decoder.layers.8.x");
  CHECK(global_name(layout, "local_experts.1.w", at) == "local_experts.5.w");
  CHECK(global_name(layout, "embedding.weight", at) == "embedding.weight");
}

TEST_CASE("expressions have the usual order and need their names") {
  const auto named = [](const std::string& expression) {
    const Layout layout = parse_layout(
        "layout = 1\n[model]\nn = 10\n[[rename]]\nmatch = \"a.{l}\"\n"
        "to = \"b.{" +
            expression + "}\"\n",
        "l.toml");
    return global_name(layout, "a.7", {{"tp", 3}});
  };
  CHECK(named("l + tp*2 - 1") == "b.12");
  CHECK(named("(l+tp)*2/3") == "b.6");
  CHECK(named("-(1 - l)") == "b.6");
  CHECK(named("n - 3 - 2") == "b.5");
  CHECK(named("dp") == "b.0");
  CHECK_THROWS_WITH_AS(named("m"),
                       "l.toml: a.7: [[rename]] of line 4: m is no capture, mesh axis or number of "
                       "[model]",
                       Error);
  CHECK_THROWS_AS(named("l / (tp - 3)"), Error);
  CHECK_THROWS_AS(named("9223372036854775807 + l"), Error);
  CHECK_THROWS_AS(named("experts_per_rank"), Error);
}

TEST_CASE("rules that meet nothing and names that no rule places are reported") {
  const Layout layout = parse_layout(kLayout, "layout.toml");
  LayoutUse use(layout);
  const Where where{"f.pt", 64, "x"};
  CHECK(use.global_name("decoder.layers.1.linear_qkv.weight", {{"pp", 1}}) ==
        "decoder.layers.9.linear_qkv.weight");
  REQUIRE(use.rule_for("decoder.layers.9.linear_qkv.weight", 0, where));
  CHECK_FALSE(use.rule_for("odd", 1, where));
  CHECK_FALSE(use.unplaced("odd"));
  CHECK_FALSE(use.rule_for("odd", 0, where));
  CHECK_FALSE(use.rule_for("alone", 0, where));
  CHECK(use.unplaced("odd"));
  CHECK_FALSE(use.unplaced("alone"));
  const auto findings = use.findings();
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].tensor == "odd");
  CHECK(findings[0].code == Code::name_mapping);
  CHECK(findings[0].severity == Severity::error);
  CHECK(findings[0].incomplete);
  CHECK(findings[0].ranks == std::vector<std::int32_t>{0, 1});
  CHECK(findings[0].where == where);
  CHECK(findings[1].message == "[[tensor]] match = \"flat\" met no name");
  CHECK(findings[1].where->object == "line 17");
  CHECK(findings[2].severity == Severity::warning);
  CHECK(findings[2].message == "[[rename]] match = \"**.local_experts.{e}.**\" met no name");
}

TEST_CASE("errors show file, line, column, the line and a caret") {
  CHECK(message("layout = 1\n[[tensor]]\nmatch = \"a\"\ndims = \"x[tp:zag] y\"\n") ==
        "layout.toml: line 4: unknown mod zag; expected even sizes= zigzag natural stride= "
        "interleave= pad= align= partial sharded, column 14\n"
        "  dims = \"x[tp:zag] y\"\n"
        "               ^");
  CHECK(message("layout = 1\n[mesh]\naxes = [\"tp\"]\n") ==
        "layout.toml: line 3: an axis is written \"tp=4\", with a size of at least 1, column 9\n"
        "  axes = [\"tp\"]\n"
        "          ^");
  CHECK(message("layout = 1\n[[rename]]\nmatch = \"a.{l}\"\nto = \"a.{l +}\"\n") ==
        "layout.toml: line 4: expected a number, a name or (, column 13\n"
        "  to = \"a.{l +}\"\n"
        "              ^");
  CHECK(message("layout = 1\nlayuot = 2\n").find("a layout has no key layuot") !=
        std::string::npos);
  CHECK(message("layout = 2\n").find("expected 1") != std::string::npos);
  CHECK(message("[mesh]\naxes = []\n").find("layout = 1 is missing") != std::string::npos);
  CHECK(message("layout = 1\nlayout = 1\n").find("line 2") != std::string::npos);
  CHECK(message("layout = 1\nbase = \"x\"\n").find("unknown scheme x") != std::string::npos);
  CHECK(message("layout = 1\n[mesh]\naxes = [\"tp=2\", \"tp=2\"]\n").find("there twice") !=
        std::string::npos);
  for (const std::string name : {"rank", "step"}) {
    CHECK(message("layout = 1\n[mesh]\naxes = [\"" + name + "=2\"]\n")
              .find(name + " is no name for an axis: patterns use it") != std::string::npos);
  }
  CHECK(message("layout = 1\n[mesh]\naxes = [\"tp=2\"]\nexpert = [\"ep=3\"]\n")
            .find("both are orders of the same ranks") != std::string::npos);
  CHECK(message("layout = 1\n[mesh]\naxes = [\"a=99999999\", \"b=99999999\"]\n")
            .find("more than 2147483647 ranks") != std::string::npos);
  CHECK(message("layout = 1\n[[tensor]]\nmatch = \"a{b\"\ndims = \"*\"\n")
            .find("the brace is not closed") != std::string::npos);
  CHECK(message("layout = 1\n[[rename]]\nmatch = \"a.*\"\nto = \"*.*\"\n")
            .find("no wildcard of match is left") != std::string::npos);
  CHECK(message("layout = 1\n[[rename]]\nmatch = \"a.{l}\"\nto = \"a.{f(l)}\"\n")
            .find("f is no function") != std::string::npos);
  CHECK(message("layout = 1\n[[tensor]]\nmatch = \"a\"\n").find("dims is missing") !=
        std::string::npos);
  CHECK(message("layout = 1\n[model]\nrope = 1.5\n").find("[model] holds whole numbers") !=
        std::string::npos);
}

TEST_CASE("what a layout may say, and what not") {
  struct Row {
    std::string text;
    const char* refused;  ///< part of the message, empty: taken
  };
  const char* const axis = "an axis is written \"tp=4\"";
  const auto axes = [](const std::string& list) { return "layout = 1\n[mesh]\naxes = " + list; };
  const auto shape = [](const std::string& list) {
    return "layout = 1\n[[tensor]]\nmatch = \"a\"\ndims = \"*\"\nshape = " + list;
  };
  std::string many;
  for (int i = 0; i < 64; ++i) many += "1, ";
  const std::vector<Row> rows = {
      {"", ""},
      {"[[map]]\nreference = \"a\"\ncandidate = \"b\"", ""},
      {"[[map]]\nreference = \"a\"\ncandidate = \"b\"\n[model]\nn = 1", "layout = 1 is missing"},
      {"layout = \"1\"", "unknown version of the layout; expected 1"},
      {"layout = 1.0", "unknown version of the layout; expected 1"},
      {"layout = 1\nbase = 3", "base"},
      {"layout = 1\nbase = \"none\"", ""},
      {axes(R"(["tp=1"])"), ""},
      {axes(R"(["tp=0"])"), axis},
      {axes(R"(["tp=-1"])"), axis},
      {axes(R"(["tp=4x"])"), axis},
      {axes(R"(["tp="])"), axis},
      {axes(R"(["=4"])"), axis},
      {axes(R"(["tp=9223372036854775808"])"), axis},
      {axes(R"(["tp:2=4"])"), axis},
      {axes(R"(["2p=4"])"), axis},
      {axes(R"(["az_AZ09=2"])"), ""},
      {axes(R"([4])"), axis},
      {axes(R"("tp=4")"), "axes must be a list"},
      {axes(R"(["a=1", "tp=2", "tp=2"])"), "the axis tp is there twice"},
      {axes(R"(["a=2147483647"])"), ""},
      {axes(R"(["a=2147483648"])"), "more than 2147483647 ranks"},
      {axes("[\"a=2\", \"b=3\"]\nexpert = [\"a=3\", \"c=2\"]"), "a is 3 here and 2 in axes"},
      {axes("[\"a=2\", \"b=3\"]\nexpert = [\"b=3\", \"c=2\"]"), ""},
      {axes("[\"a=2\"]\nexpert = []"), ""},
      {axes("[\"a=2\"]\nexperts = []"), "[mesh]"},
      {"layout = 1\n[files]\npatern = \"a\"", "[files]"},
      {"layout = 1\n[files]\npattern = \"a{\"", "the brace is not closed"},
      {"layout = 1\n[files]\nroot = \"model\"", ""},
      {"layout = 1\n[model]\nn = \"2\"", "[model] holds whole numbers"},
      {shape("[0, 5]"), ""},
      {shape("[]"), ""},
      {shape("[-1]"), "expected a whole number"},
      {shape("[1.5]"), "expected a whole number"},
      {shape("5"), "shape must be a list of whole numbers"},
      {shape("[" + many + "]"), ""},
      {shape("[" + many + "1]"), "more than 64 dimensions"},
      {"layout = 1\n[[tensor]]\ndims = \"*\"", "match is missing"},
      {"layout = 1\n[[tensor]]\nmatch = \"a\"\ndims = \"*\"\ndtype = \"f32\"", "[[tensor]]"},
      {"layout = 1\n[[rename]]\nmatch = \"a\"", "to is missing"},
      {"layout = 1\n[[rename]]\nmatch = \"a\"\nto = \"b\"\nop = \"same\"", "[[rename]]"},
      {"layout = 1\n[[map]]\nreference = \"a\"", "candidate is missing"},
      {"layout = 1\n[[map]]\ncandidate = \"a\"", "reference is missing"},
      {"[[map]]\nreference = \"a\"\ncandidate = \"b\"\nops = \"same\"", "[[map]]"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string said = message(row.text);
    CAPTURE(said);
    CHECK(said.empty() == std::string(row.refused).empty());
    CHECK(said.find(row.refused) != std::string::npos);
  }
}

TEST_CASE("a map remembers where it stands") {
  const MapRule rule =
      parse_layout("\n[[map]]\ncandidate = \"b\"\n  reference = \"a\"\n", "maps.toml").maps.at(0);
  CHECK(rule.file == "maps.toml");
  CHECK(rule.line == 2);
  CHECK(rule.text == "  reference = \"a\"");
  CHECK(rule.column == 14);  // of the value's quote, from 0
}

}  // namespace
}  // namespace ttcheck
