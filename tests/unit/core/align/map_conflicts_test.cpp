// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_conflicts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::align {
namespace {

std::vector<Tensor> named(const std::vector<std::string>& names) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) tensors.emplace_back().identity.name = name;
  return tensors;
}

MapRule rule(std::string reference, std::string candidate, std::string op, std::int64_t line) {
  MapRule made{std::move(reference), std::move(candidate), std::move(op), line};
  made.text = "reference = ...";
  made.column = 12;
  return made;
}

TEST_CASE("two maps that change the values of one tensor") {
  struct Row {
    std::string what;
    std::vector<MapRule> maps;
    std::vector<std::string> reference, candidate;
    std::string refused;  ///< how the message begins
  };
  const std::string shown = ", column 13\n  reference = ...";
  const auto of = [&](const std::string& second, const std::string& name, const std::string& first,
                      const std::string& op) {
    return "line " + second + ": the value of " + name + " is already changed by the map of line " +
           first + " (" + op + "); say both in one" + shown;
  };
  const MapRule add_one = rule("a", "b", "add(1)", 3);
  const MapRule twice = rule("a", "b", "scale(2)", 7);
  const std::vector<Row> rows = {
      {"none", {}, {"a"}, {"b"}, ""},
      {"one", {add_one}, {"a"}, {"b"}, ""},
      {"both of one pair", {add_one, twice}, {"a"}, {"b"}, of("7", "a", "3", "add(1)")},
      {"in their order", {twice, add_one}, {"a"}, {"b"}, of("3", "a", "7", "scale(2)")},
      {"one of them of other tensors",
       {add_one, rule("c", "d", "add(1)", 7)},
       {"a", "c"},
       {"b", "d"},
       ""},
      {"one that keeps values", {add_one, rule("a", "b", "same", 7)}, {"a"}, {"b"}, ""},
      {"two that keep values beside one",
       {rule("a", "b", "same", 1), add_one, rule("a", "b", "ignore", 7)},
       {"a"},
       {"b"},
       ""},
      {"not there", {add_one, twice}, {"x"}, {"b"}, ""},
      {"nothing to meet", {add_one, twice}, {"a"}, {"x"}, ""},
      {"one source of two targets",
       {add_one, rule("a", "c", "scale(2)", 7)},
       {"a"},
       {"b", "c"},
       of("7", "a", "3", "add(1)")},
      {"of which one is not there", {add_one, rule("a", "c", "scale(2)", 7)}, {"a"}, {"b"}, ""},
      {"two sources of one target",
       {add_one, rule("c", "b", "scale(2)", 7)},
       {"a", "c"},
       {"b"},
       of("7", "b", "3", "add(1)")},
      {"one of which is not there", {add_one, rule("c", "b", "scale(2)", 7)}, {"a"}, {"b"}, ""},
      {"with a number",
       {add_one, rule("{l}.a", "{l}.b", "scale(2)", 7), rule("3.a", "3.b", "add(2)", 9)},
       {"3.a"},
       {"3.b"},
       of("9", "3.a", "7", "scale(2)")},
      {"the other way round", {add_one, twice}, {"b"}, {"a"}, of("7", "a", "3", "add(1)")},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const std::vector<Tensor> reference = named(row.reference);
    const std::vector<Tensor> candidate = named(row.candidate);
    const std::string error =
        tests::error_of([&] { refuse_conflicts(row.maps, reference, candidate); });
    CHECK(error.substr(0, error.rfind('\n')) == row.refused);
  }
}

TEST_CASE("the map file is named") {
  const std::vector<Tensor> reference = named({"a"});
  const std::vector<Tensor> candidate = named({"b"});
  MapRule second = rule("a", "b", "scale(2)", 7);
  second.file = "map.toml";
  try {
    refuse_conflicts({rule("a", "b", "add(1)", 3), second}, reference, candidate);
    FAIL("two maps of one tensor were taken");
  } catch (const Error& error) {
    CHECK(error.where() == Where{"map.toml", std::nullopt, ""});
  }
}

}  // namespace
}  // namespace ttcheck::align
