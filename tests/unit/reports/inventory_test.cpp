// SPDX-License-Identifier: Apache-2.0
#include "reports/inventory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

struct Told {
  std::string name;
  std::optional<std::int64_t> step = {};
  DType dtype = DType::f32;
  Shape shape = {2};
  Phase phase = Phase::none;
};

TEST_CASE("a row for each tensor, with the steps that have it") {
  struct Row {
    std::string what;
    std::vector<Told> told;
    std::vector<std::size_t> first;  ///< of each row of the inventory, its first result
    std::vector<std::vector<std::int64_t>> steps;
  };
  const std::vector<Row> rows = {
      {"none", {}, {}, {}},
      {"without steps", {{"b"}, {"a"}}, {0, 1}, {{}, {}}},
      {"in two steps", {{"b", 4}, {"a", 4}, {"b", 5}, {"a", 5}}, {0, 1}, {{4, 5}, {4, 5}}},
      {"not in all", {{"b", 4}, {"a", 5}, {"b", 6}}, {0, 1}, {{4, 6}, {5}}},
      {"of another dtype", {{"a", 4}, {"a", 5, DType::bf16}, {"a", 6}}, {0, 1}, {{4, 6}, {5}}},
      {"of another shape", {{"a", 4}, {"a", 5, DType::f32, {3}}}, {0, 1}, {{4}, {5}}},
      {"of another phase",
       {{"a", 4}, {"a", 4, DType::f32, {2}, Phase::forward}},
       {0, 1},
       {{4}, {4}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<TensorResult> results;
    for (const Told& told : row.told) {
      TensorResult& result = results.emplace_back();
      result.identity = {told.name, told.phase};
      result.step = told.step;
      result.dtype = told.dtype;
      result.shape = told.shape;
    }
    const std::vector<InventoryRow> listed = inventory(results);
    REQUIRE(listed.size() == row.first.size());
    for (std::size_t i = 0; i < listed.size(); ++i) {
      CHECK(listed[i].tensor == &results[row.first[i]]);
      CHECK(listed[i].steps == row.steps[i]);
    }
  }
}

}  // namespace
}  // namespace ttcheck::reports
