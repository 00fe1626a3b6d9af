// SPDX-License-Identifier: Apache-2.0
// Records of two ranks without dims against those of one.

#include "core/assemble/data_parallel.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::assemble {
namespace {

Record record_of(Phase phase, const std::string& name, Kind kind, Shape shape, std::int32_t rank) {
  Record record;
  record.identity = {name, phase, 0, 0};
  record.kind = kind;
  record.shape = std::move(shape);
  record.piece.rank = rank;
  record.trace = std::make_shared<const TraceRecord>();
  return record;
}

/// A step of one rank, and the same of two along dp: of a batch of 4 and a table of positions.
struct Pair {
  std::vector<Record> one, two;
  Mesh mesh;

  Pair() {
    mesh.axes = {{"dp", 2}};
    add(Phase::state, "embed/param.weight", Kind::weight, {8, 3}, {8, 3});
    add(Phase::forward, "embed/output.0", Kind::output, {4, 5, 3}, {2, 5, 3});
    add(Phase::forward, "places/output.0", Kind::output, {5, 3}, {5, 3});
    add(Phase::loss, "loss/loss.0", Kind::loss, {}, {});
    add(Phase::backward, "embed/grad_output.0", Kind::grad_output, {4, 5, 3}, {2, 5, 3});
    add(Phase::backward, "embed/grad.weight", Kind::grad, {8, 3}, {8, 3});
    add(Phase::sync, "embed/main_grad.weight", Kind::main_grad, {8, 3}, {8, 3});
  }

  void add(Phase phase, const std::string& name, Kind kind, const Shape& whole, const Shape& part) {
    one.push_back(record_of(phase, name, kind, whole, 0));
    for (const std::int32_t rank : {0, 1}) {
      two.push_back(record_of(phase, name, kind, part, rank));
    }
  }

  DataParallel made() { return state_data_parallel(two, one, mesh); }
};

/// The line of a record; empty: none.
std::string line_of(const Record& record) {
  return record.placement ? to_string(*record.placement) : "";
}

TEST_CASE("pieces of the batch are cut, losses and gradients of parameters are means") {
  Pair pair;
  const DataParallel made = pair.made();
  CHECK(made.tensors == 4);
  CHECK(made.cut == "b[dp] *");
  CHECK(made.mean == "* # dp:partial=avg");
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < pair.two.size(); i += 2) {
    lines.push_back(line_of(pair.two[i]));
    CHECK(line_of(pair.two[i + 1]) == lines.back());
  }
  CHECK(lines == std::vector<std::string>{"", made.cut, "", made.mean, made.cut, made.mean, ""});
}

TEST_CASE("nothing is stated where something is otherwise") {
  struct Row {
    std::string what;
    void (*change)(Pair&);
  };
  const std::vector<Row> rows = {
      {"tensor parallelism", [](Pair& pair) { pair.mesh.axes = {{"tp", 2}}; }},
      {"two axes", [](Pair& pair) { pair.mesh.axes = {{"dp", 2}, {"tp", 2}}; }},
      {"a line of the writer's",
       [](Pair& pair) {
         pair.two[2].placement = std::make_shared<const Placement>(parse_dims("b s h"));
       }},
      {"a tensor that one rank alone has",
       [](Pair& pair) { pair.two.erase(pair.two.begin() + 5); }},
      {"a tensor cut along another dimension",
       [](Pair& pair) {
         pair.add(Phase::forward, "up/output.0", Kind::output, {4, 5, 8}, {4, 5, 4});
       }},
      {"pieces that do not make up the batch",
       [](Pair& pair) { pair.add(Phase::forward, "up/output.0", Kind::output, {4, 5}, {3, 5}); }},
      {"a gradient of a cut parameter",
       [](Pair& pair) { pair.add(Phase::backward, "up/grad.weight", Kind::grad, {4}, {2}); }},
      {"another side of two ranks", [](Pair& pair) { pair.one.back().piece.rank = 1; }},
      {"nothing that is cut",
       [](Pair& pair) {
         for (Record& record : pair.two) {
           if (record.shape.size() == 3) record.shape.front() = 4;
         }
       }},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Pair pair;
    row.change(pair);
    CHECK(pair.made().tensors == 0);
  }
}

}  // namespace
}  // namespace ttcheck::assemble
