// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/placed_records.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/record_of.hpp"

namespace ttcheck::assemble {
namespace {

/// What comes of records on a mesh of two ranks, `tp`, and what is said of those that do not fit.
struct Scene {
  PlacedRecords made;
  std::vector<std::string> said;

  explicit Scene(std::vector<Record>& records) {
    Mesh mesh;
    mesh.axes = {{"tp", 2}};
    const Numbers numbers;
    const Stages stages(mesh);
    std::vector<Record*> list;
    for (Record& record : records) list.push_back(&record);
    made = place_records(list, {mesh, numbers, stages, 1, {}, {}},
                         [&](const Record& record, std::string message) {
                           said.push_back(holder_of(record) + ": " + std::move(message));
                         });
  }
};

TEST_CASE("whole arrays are of one shape") {
  std::vector<Record> records = {tests::record_of("w", {2, 3}), tests::record_of("w", {3, 2}, 1)};
  const Scene placed(records);
  CHECK(placed.made.shape == Shape{2, 3});
  CHECK_FALSE(placed.made.plan);
  REQUIRE(placed.made.parts.size() == 1);
  CHECK(placed.made.parts[0].record == records.data());
  CHECK(placed.said ==
        std::vector<std::string>{"rank 1: w has shape [3, 2] here, [2, 3] on the first"});
}

TEST_CASE("boxes lie inside of the whole") {
  std::vector<Record> records = {tests::record_of("w", {2}, 0), tests::record_of("w", {2}, 1)};
  for (Record& record : records) record.logical = Shape{3};
  records[0].box_lo = Extents{1};
  records[1].box_lo = Extents{2};
  const Scene placed(records);
  CHECK(placed.made.shape == Shape{3});
  REQUIRE(placed.made.parts.size() == 1);
  CHECK(placed.made.parts[0].key == Extents{1, 2});
  CHECK(placed.said ==
        std::vector<std::string>{"rank 1: w: a piece of shape [2] at [2] is not inside of [3]"});
}

TEST_CASE("a line of dims makes the plan, which tells copies and addends") {
  std::vector<Record> records = {tests::record_of("w", {2}, 0), tests::record_of("w", {2}, 1)};
  for (Record& record : records) {
    record.placement = std::make_shared<const Placement>(parse_dims("x[tp]"));
    record.at = {{"tp", record.piece.rank}};
  }
  const Scene placed(records);
  CHECK(placed.said.empty());
  CHECK(placed.made.shape == Shape{4});
  REQUIRE(placed.made.plan);
  REQUIRE(placed.made.parts.size() == 2);
  CHECK(placed.made.parts[1].key == Extents{1});
  CHECK(placed.made.parts[1].term.empty());
}

}  // namespace
}  // namespace ttcheck::assemble
