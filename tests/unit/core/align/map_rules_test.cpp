// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_rules.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::align {
namespace {

using tests::error_of;
using Names = std::vector<std::string>;

MapRule rule_of(const std::string& reference, const std::string& candidate,
                const std::string& op = "same") {
  MapRule rule;
  rule.reference = reference;
  rule.candidate = candidate;
  rule.op = op;
  rule.line = 7;
  return rule;
}

TEST_CASE("the candidate's name of a reference name") {
  struct Row {
    std::string reference, candidate, name, expected;
  };
  for (const Row& row :
       std::vector<Row>{{"a", "b", "a", "b"},
                        {"a", "b", "b", ""},
                        {"a.{l}.w", "b.{l}.v", "a.3.w", "b.3.v"},
                        {"a.{l}.{m}", "{m}.{l}", "a.3.4", "4.3"},
                        {"a.*", "b.*", "a.x", "b.x"},
                        {"*.*", "*_*", "a.b", "a_b"},
                        {"**.a", "**.b", "x.y.a", "x.y.b"},
                        {"*.**.c", "**.*", "a.b.c", "a.b"},
                        {"a", "b\\*\\{l\\}\\\\", "a", "b*{l}\\"},
                        {"a.{l}.w", "b.{l}.v", "a.3.w@exp_avg", "b.3.v@exp_avg"},
                        {"a@exp_avg", "b@step", "a@exp_avg", "b@step"},  // it says more of this one
                        {"a@*", "b.*", "a@exp_avg", "b.exp_avg"},
                        {"a", "b", "c@exp_avg", ""},
                        {"a", "*", "a", ""},         // nothing to fill it with
                        {"*", "*.*", "a", ""},       // nor the second
                        {"a", "{l}", "a@step", ""},  // nor a number
                        {"a", "b.{l}.c", "a", ""}}) {
    INFO(row.reference << " -> " << row.candidate << " of " << row.name);
    CHECK(UserMap(rule_of(row.reference, row.candidate)).candidate_name(row.name) == row.expected);
  }
}

/// Parts of the readings, each with its op's kind before it.
Names read(const UserMap& map, const std::string& name) {
  Names found;
  for (const Reading& one : map.readings(name)) {
    found.push_back(one.op.kind == OpKind::same ? "same" : "op");
    found.insert(found.end(), one.parts.begin(), one.parts.end());
    CHECK_FALSE(one.features);
  }
  return found;
}

TEST_CASE("a name is one of the parts, or the whole") {
  struct Row {
    MapRule rule;
    std::string name;
    Names expected;
  };
  const MapRule qkv = rule_of("l.{n}.{q,k,v}.w", "l.{n}.qkv.w", "qkv_v0(2,2,2)");
  const MapRule halves = rule_of("whole.*", "half.*.{a,b}", "concat(0)");
  const MapRule turned = rule_of("a.{l}", "b.{l}", "transpose");
  for (const Row& row : std::vector<Row>{
           {qkv, "l.1.k.w", {"same", "l.1.k.w"}},
           {qkv, "l.1.k.w@step", {"same", "l.1.k.w@step"}},
           {qkv, "l.1.qkv.w", {"op", "l.1.q.w", "l.1.k.w", "l.1.v.w"}},
           {qkv, "l.1.qkv.w@step", {"op", "l.1.q.w@step", "l.1.k.w@step", "l.1.v.w@step"}},
           {qkv, "l.1.o.w", {}},
           {halves, "whole.x", {"op", "half.x.a", "half.x.b"}},
           {halves, "half.x.b", {"same", "half.x.b"}},
           {turned, "a.5", {"same", "a.5"}},  // without a list the reference's is the part
           {turned, "b.5", {"op", "a.5"}},
           {rule_of("a.{l}", "b", "transpose"), "b", {}},  // of which number is not said
           {rule_of("{a,b}", "{a,b}", "concat(0)"), "a", {"same", "a", "op", "a", "b"}}}) {
    INFO(row.rule.reference << " of " << row.name);
    CHECK(read(UserMap(row.rule), row.name) == row.expected);
  }
  CHECK(UserMap(qkv).readings("l.1.k.w").at(0).scheme == "map l.{n}.{q,k,v}.w");
}

TEST_CASE("the halves of glu in the order in which they lie") {
  struct Row {
    std::string items, op;
    Names parts;
  };
  for (const Row& row : std::vector<Row>{{"{gate,up}", "glu", {"gate", "up"}},
                                         {"{up,gate}", "glu", {"up", "gate"}},
                                         {"{gate,up}", "glu(gate,up)", {"gate", "up"}},
                                         {"{gate,up}", "glu(up,gate)", {"up", "gate"}},
                                         {"{up,gate}", "glu(up,gate)", {"up", "gate"}},
                                         {"{up,gate}", "glu(gate,up)", {"gate", "up"}},
                                         {"{w1,w3}", "glu", {"w1", "w3"}},
                                         {"{w1,w3}", "glu(w1,w3)", {"w1", "w3"}},
                                         {"{w1,w3}", "glu(w3,w1)", {"w3", "w1"}},
                                         {"{w1,w3}", "glu(gate,up)", {"w1", "w3"}},
                                         {"{w1,w3}", "glu(up,gate)", {"w3", "w1"}}}) {
    INFO(row.items << " " << row.op);
    CHECK(UserMap(rule_of(row.items, "fc1", row.op)).readings("fc1").at(0).parts == row.parts);
    CHECK(UserMap(rule_of("fc1", row.items, row.op)).readings("fc1").at(0).parts == row.parts);
  }
}

TEST_CASE("rules without a meaning") {
  const std::string glu = "line 7: map op 'glu' wants two names in braces, as in '{gate,up}_proj'";
  const auto said = [](const MapRule& rule) { return error_of([&] { UserMap made(rule); }); };
  CHECK(said(rule_of("{a}", "b", "glu")) == glu);
  CHECK(said(rule_of("{a,b,c}", "b", "glu")) == glu);
  CHECK(said(rule_of("a", "b", "glu(a,b)")) == glu);
  for (const std::string op : {"glu(w1,w2)", "glu(up,w1)", "glu(gate,w3)", "glu(w3,up)"}) {
    INFO(op);
    CHECK(said(rule_of("{w1,w3}", "b", op))
              .starts_with("line 7: the halves of map op 'glu' are w1 and w3, not "));
  }
  CHECK(said(rule_of("a", "{b,c,d}", "dequant(block)")) ==
        "line 7: map op 'dequant' wants a weight and its scale in braces, as in "
        "'{weight,weight_scale}'");
  CHECK(said(rule_of("a", "b", "fold")).starts_with("line 7: map op 'fold' is not known"));
  CHECK(said(rule_of("a", "b", "")).empty());
}

TEST_CASE("what is stored in 8 bits, and its scale") {
  struct Row {
    MapRule rule;
    std::string name, scale;
    bool dequantises;
  };
  const MapRule plain = rule_of("a.{l}", "b.{l}", "dequant(block)");
  const MapRule named = rule_of("a.{l}", "b.{l}.{w,s}", "dequant(block)");
  const MapRule other = rule_of("a.{l}.{w,s}", "b.{l}", "dequant(block)");
  for (const Row& row : std::vector<Row>{{plain, "a.1", "", true},
                                         {plain, "b.1", "", true},
                                         {plain, "c.1", "", false},
                                         {named, "b.1.w", "b.1.s", true},
                                         {named, "b.1.s", "", false},
                                         {named, "a.1", "", false},
                                         {other, "a.1.w", "a.1.s", true},
                                         {other, "b.1", "", false},
                                         {rule_of("a", "b"), "a", "", false},
                                         {rule_of("a", "{b,c}"), "b", "", false}}) {
    INFO(row.rule.candidate << " of " << row.name);
    CHECK(UserMap(row.rule).dequantises(row.name) == row.dequantises);
    CHECK(UserMap(row.rule).scale_of(row.name) == row.scale);
  }
  CHECK(UserMap(named).candidate_name("a.1") == "b.1.w");
  CHECK(UserMap(other).candidate_name("a.1.w") == "b.1");
}

TEST_CASE("what a side keeps under another name") {
  struct Row {
    MapRule rule;
    std::string name, expected;
  };
  const MapRule tie = rule_of("head.{l}", "out.{l}", "tie(embed.{l})");
  for (const Row& row : std::vector<Row>{{tie, "head.2", "embed.2"},
                                         {tie, "out.3", "embed.3"},
                                         {tie, "embed.2", ""},
                                         {rule_of("head", "out", "tie(embed)"), "head", "embed"},
                                         {rule_of("head", "out", "tie({l)"), "head", ""},
                                         {rule_of("head", "out", "tie(e\\)"), "head", "e\\"},
                                         {rule_of("head", "out"), "head", ""}}) {
    INFO(row.rule.op << " of " << row.name);
    CHECK(UserMap(row.rule).tied_to(row.name) == row.expected);
  }
}

TEST_CASE("a cast admits weights of its dtype, and all that is no weight") {
  const UserMap cast(rule_of("a", "b", "cast(bf16)"));
  Tensor tensor;
  tensor.kind = Kind::weight;
  tensor.dtype = DType::f32;
  CHECK_FALSE(cast.admits(tensor));
  CHECK(UserMap(rule_of("a", "b")).admits(tensor));
  tensor.dtype = DType::bf16;
  CHECK(cast.admits(tensor));
  tensor.dtype = DType::f32;
  tensor.kind = Kind::moment1;
  CHECK(cast.admits(tensor));
}

TEST_CASE("ops by what they do with names and values") {
  struct Row {
    std::string op;
    bool ignores, renames, rescales;
  };
  for (const Row& row : std::vector<Row>{{"same", false, true, false},
                                         {"tie(x)", false, true, false},
                                         {"cast(f32)", false, true, false},
                                         {"dequant(block)", false, true, false},
                                         {"ignore", true, false, false},
                                         {"add(1)", false, false, true},
                                         {"scale(2)", false, false, true},
                                         {"transpose", false, false, false}}) {
    INFO(row.op);
    const UserMap map(rule_of("a", "b", row.op));
    CHECK(map.ignores() == row.ignores);
    CHECK(map.renames() == row.renames);
    CHECK(map.rescales() == row.rescales);
  }
}

}  // namespace
}  // namespace ttcheck::align
