// SPDX-License-Identifier: Apache-2.0
#include "core/model/rename.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/model/caret.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::error_of;

RenameRule rule_of(const std::string& match, const std::string& to) {
  RenameRule rule;
  rule.match = match;
  rule.to = to;
  rule.line = 12;
  return rule;
}

/// The new name; "-" where the rule does not match, which must leave the name as it was.
std::string renamed(const Layout& layout, const RenameRule& rule, const Coordinates& at,
                    const std::string& name) {
  std::string now = name;
  if (rename(layout, rule, at, now)) return now;
  CHECK(now == name);
  return "-";
}

TEST_CASE("wildcards and captures go to their places") {
  struct Row {
    std::string match, to, name, expected;
  };
  for (const Row& row :
       std::vector<Row>{{"a", "b", "a", "b"},
                        {"a", "b", "a.b", "-"},
                        {"a", "b", "", "-"},
                        {"a", "", "a", ""},
                        {"*", "x.*", "w", "x.w"},
                        {"*.*", "*_*", "a.b", "a_b"},
                        {"*.*", "*", "a.b", "a"},
                        {"**.w", "**.v", "a.b.w", "a.b.v"},
                        {"**.w", "**.v", "w", "v"},
                        {"**.w", "*.v", "w", "v"},
                        {"**.w", "p.**.v", "w", "p.v"},
                        {"**.w", "p.**.v", "a.b.w", "p.a.b.v"},
                        {"**.w", "p**.v", "w", "p.v"},  // the dot belongs to what is before it
                        {"**.w", "**v", "w", "v"},
                        {"**.w", "v.**", "w", "v."},
                        {"**.m.**", "***", "a.m.b", "ab"},  // two, then one
                        {"m.**", "**.x", "m.a.b", "a.b.x"},
                        {"l.{n}", "{n}", "l.7", "7"},
                        {"l.{n}.**", "k.{n + 1}.**", "l.7.w.b", "k.8.w.b"},
                        {"l.{n}.{m}", "{m}.{n}{n}", "l.1.20", "20.11"},
                        {"l.{n}", "{ n*2 - 20 }", "l.7", "-6"},
                        {"a", "\\*\\{x\\}\\\\", "a", "*{x}\\"},
                        {"a", "b\\", "a", "b\\"},
                        {"a", "b}", "a", "b}"},
                        {"l.{n}", "l.{n}", "l.x", "-"}}) {
    INFO(row.match << " -> " << row.to << " of " << row.name);
    CHECK(renamed({}, rule_of(row.match, row.to), {}, row.name) == row.expected);
    RenameRule compiled = rule_of("nothing", row.to);
    compiled.glob = std::make_shared<const Glob>(row.match);
    CHECK(renamed({}, compiled, {}, row.name) == row.expected);
  }
}

/// 32 layers and 8 experts on 2 x 2 stages and 4 x 2 ranks.
Layout some_layout() {
  Layout layout;
  layout.file = "l.toml";
  layout.mesh.axes = {{"pp", 2}, {"dp", 2}, {"tp", 4}, {"ring", 3}};
  layout.mesh.expert_axes = {{"ep", 2}, {"side", 5}};
  layout.model = {{"layers", 32}, {"experts", 8}, {"vpp", 2}, {"ring", 77}, {"heads", 16}};
  return layout;
}

TEST_CASE("a name means a capture, a coordinate, an axis, a number of the model, in this order") {
  struct Row {
    std::string expression, expected;
    Coordinates at;
  };
  for (const Row& row : std::vector<Row>{{"c", "5", {{"c", 9}}},
                                         {"tp", "3", {{"tp", 3}}},
                                         {"heads", "2", {{"heads", 2}}},
                                         {"heads", "16", {}},
                                         {"other", "4", {{"other", 4}}},
                                         {"ring", "0", {}},
                                         {"side", "0", {}},
                                         {"vpp", "0", {}},
                                         {"sp", "3", {{"tp", 3}}},
                                         {"sp", "1", {{"tp", 3}, {"sp", 1}}},
                                         {"experts_per_rank", "4", {}},
                                         {"experts_per_rank", "6", {{"experts_per_rank", 6}}}}) {
    INFO(row.expression);
    CHECK(renamed(some_layout(), rule_of("w.{c}", "{" + row.expression + "}"), row.at, "w.5") ==
          row.expected);
  }
  for (const char* const axis :
       {"pp", "vpp", "dp", "cp", "tp", "sp", "ep", "etp", "edp", "fsdp", "mb"}) {
    INFO(axis);
    CHECK(renamed({}, rule_of("w", std::string("{") + axis + "}"), {}, "w") == "0");
  }
}

TEST_CASE("the first layer of a stage's chunk") {
  struct Row {
    std::string call;
    std::int64_t layers, pp, vpp_of_model, vpp_of_mesh;  ///< 0: not there
    std::string expected;
  };
  for (const Row& row :
       std::vector<Row>{{"first_layer(0)", 32, 2, 0, 0, "0"},
                        {"first_layer(1)", 32, 2, 0, 0, "16"},
                        {"first_layer(1,0)", 32, 2, 2, 0, "8"},  // chunks of 8: 0 1 | 2 3
                        {"first_layer(0,1)", 32, 2, 2, 0, "16"},
                        {"first_layer(1,1)", 32, 2, 2, 0, "24"},
                        {"first_layer(2,3)", 24, 3, 4, 0, "22"},  // chunks of 2: 3 x 3 + 2 before
                        {"first_layer(1,1)", 32, 2, 0, 2, "24"},
                        {"first_layer(1,1)", 32, 2, 4, 2, "12"},  // the model's number counts
                        {"first_layer(5)", 32, 2, 0, 0, "80"}}) {
    INFO(row.call);
    Layout layout;
    layout.mesh.axes = {{"pp", row.pp}};
    if (row.vpp_of_mesh > 0) layout.mesh.axes.push_back({"vpp", row.vpp_of_mesh});
    layout.model["layers"] = row.layers;
    if (row.vpp_of_model > 0) layout.model["vpp"] = row.vpp_of_model;
    CHECK(renamed(layout, rule_of("w", "{" + row.call + "}"), {}, "w") == row.expected);
  }
}

TEST_CASE("what has no value is said with the rule's line and the name") {
  Layout odd = some_layout();
  odd.model = {{"layers", 30}, {"experts", 7}, {"vpp", 2}};
  Layout none = odd;
  none.mesh.axes[0].size = 0;
  Layout bare;
  bare.file = "l.toml";
  struct Row {
    const Layout& layout;
    std::string to, said;
  };
  const Layout plain = some_layout();
  for (const Row& row : std::vector<Row>{
           {plain, "{x}", "x is no capture, mesh axis or number of [model]"},
           {bare, "{experts_per_rank}", "experts_per_rank needs experts in [model]"},
           {odd, "{experts_per_rank}", "experts_per_rank: 7 do not divide by 2"},
           {bare, "{first_layer(0)}", "first_layer needs layers in [model]"},
           {odd, "{first_layer(0)}", "first_layer: layers: 30 do not divide by 4"},
           {none, "{first_layer(0)}", "first_layer: layers: 30 do not divide by 0"},
           {plain, "{first_layer(1,2,3)}", "first_layer takes (pp,vpp), not 3 numbers"},
           {plain, "{last_layer(1)}", "last_layer is no function; first_layer is"},
           {plain, "{first_layer(0,9223372036854775807)}", "product overflows"},
           {plain, "{first_layer(9223372036854775807,1)}", "sum overflows"},
           {plain, "{first_layer(2000000000000000000)}", "product overflows"},
           {plain, "a.{1/c}", caret_error("division by zero", "a.{1/c}", 4).what()},
           {plain, "a.*",
            caret_error("no wildcard of match is left for this one", "a.*", 2).what()}}) {
    INFO(row.to);
    CHECK(error_of([&] { renamed(row.layout, rule_of("w.{c}", row.to), {}, "w.0"); }) ==
          "l.toml: w.0: [[rename]] of line 12: " + row.said);
  }
}

TEST_CASE("a rule is checked before any name: good ones") {
  for (const auto& [match, to] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b"},
           {"a", ""},
           {"**.{l}.*", "**.{l + first_layer(pp, vpp)}.*"},
           {"**.{l}.*", "*.{experts_per_rank * ep}"},
           {"a.*", "\\*.*.\\*"},
           {"a", "{unheard - of}"},
           {"a", "b\\"}}) {
    INFO(to);
    CHECK(error_of([&, m = match, t = to] { check_rename(rule_of(m, t)); }).empty());
  }
}

TEST_CASE("a rule is checked before any name: bad ones are shown at their place") {
  struct Row {
    std::string match, to, said;
    std::size_t at;
  };
  const std::string wildcard = "no wildcard of match is left for this one";
  const std::string value = "expected a number, a name or (";
  for (const Row& row : std::vector<Row>{{"a", "*", wildcard, 0},
                                         {"*", "b.*.**", wildcard, 4},
                                         {"*.*", "***.x.*", wildcard, 6},
                                         {"a", "b.{l", "the brace is not closed", 2},
                                         {"a", "{l}.{", "the brace is not closed", 4},
                                         {"a", "{}", value, 1},
                                         {"a", "b.{l + }", value, 7},
                                         {"a", "{1 2}", "expected + - * / or )", 3},
                                         {"a", "x{(1}", "the parenthesis is not closed", 2},
                                         {"a", "{1/0}", "division by zero", 2}}) {
    INFO(row.to);
    CHECK(error_of([&] { check_rename(rule_of(row.match, row.to)); }) ==
          caret_error(row.said, row.to, row.at).what());
    CHECK_THROWS_AS(check_rename(rule_of(row.match, row.to)), LineError);
  }
  CHECK(error_of([] { check_rename(rule_of("a", "{last(1)}")); }) ==
        "last is no function; first_layer is");
  CHECK(error_of([] { check_rename(rule_of("a", "{first_layer(1,2,3)}")); }) ==
        "first_layer takes (pp,vpp), not 3 numbers");
  CHECK(error_of([] { check_rename(rule_of("{a", "b")); }) ==
        "glob {a: the brace is not closed, column 1");
}

}  // namespace
}  // namespace ttcheck
