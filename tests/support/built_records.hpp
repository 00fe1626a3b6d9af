// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of one tensor and what `assemble::build` makes of them.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/assemble/build.hpp"
#include "tests/support/record_of.hpp"

namespace ttcheck::tests {

/// Records of one tensor `w` on a mesh, of step 7, to be put together.
struct BuiltRecords {
  std::vector<Axis> axes = {};
  std::vector<Record> records = {};
  std::vector<std::int32_t> missing = {};  ///< ranks that hold nothing
  std::vector<std::int32_t> silent = {};
  std::int64_t microbatches = 1;

  Record& add(Shape shape, std::int32_t rank) {
    return records.emplace_back(record_of("w", std::move(shape), rank));
  }

  Record& add(Shape shape, std::int32_t rank, const std::string& dims) {
    Record& record = add(std::move(shape), rank);
    record.placement = std::make_shared<const Placement>(parse_dims(dims));
    Mesh mesh;
    mesh.axes = axes;
    if (rank != kNoRank) record.at = mesh.coordinates(rank);
    return record;
  }

  Record& add_box(Shape shape, std::int32_t rank, Shape logical, Extents lo) {
    Record& record = add(std::move(shape), rank);
    record.logical = std::move(logical);
    record.box_lo = std::move(lo);
    return record;
  }

  assemble::Built made() {
    Mesh mesh;
    mesh.axes = axes;
    const Numbers numbers;
    const assemble::Stages stages(mesh);
    std::vector<Record*> list;
    for (Record& record : records) list.push_back(&record);
    return assemble::build(list, {mesh, numbers, stages, microbatches, 7, silent}, missing);
  }
};

}  // namespace ttcheck::tests
