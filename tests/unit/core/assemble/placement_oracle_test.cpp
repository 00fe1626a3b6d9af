// SPDX-License-Identifier: Apache-2.0
// Every modifier of the dims grammar against index lists that tests/support/placement_oracle.py
// made with NumPy: what a rank holds at each place of its array, and that the ranks together hold
// each element once.

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "tests/support/project_file.hpp"

namespace ttcheck::assemble {
namespace {

struct Held {
  Shape shape;
  Extents indices;
};

struct Case {
  std::string dims;
  Mesh mesh;
  Shape shape;
  bool stated = false;
  std::vector<Held> ranks;
};

std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> list;
  for (std::size_t end = line.find(" ; "); end != std::string_view::npos; end = line.find(" ; ")) {
    list.emplace_back(line.substr(0, end));
    line.remove_prefix(end + 3);
  }
  list.emplace_back(line);
  return list;
}

Shape shape_of(std::string text) {
  for (char& c : text) c = c == 'x' ? ' ' : c;
  std::istringstream in(text);
  Shape shape;
  for (std::int64_t extent = 0; in >> extent;) shape.push_back(extent);
  return shape;
}

std::vector<Case> cases() {
  const auto bytes = tests::project_bytes("tests/data/placement/cases.txt");
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<Case> list;
  for (std::string line; std::getline(in, line);) {
    const auto parts = fields(line);
    if (line.starts_with("case ")) {
      Case& one = list.emplace_back();
      one.dims = parts[0].substr(5);
      std::istringstream mesh(parts[1]);
      for (std::string axis; mesh >> axis;) {
        const std::size_t equals = axis.find('=');
        one.mesh.axes.push_back({axis.substr(0, equals), std::stoll(axis.substr(equals + 1))});
      }
      one.shape = shape_of(parts[2]);
      one.stated = parts[3] == "stated";
    } else {
      list.back().ranks.push_back({shape_of(parts[1]), shape_of(parts.size() > 2 ? parts[2] : "")});
    }
  }
  return list;
}

State state_of(const Case& one) {
  State state;
  const auto placement = std::make_shared<const Placement>(parse_dims(one.dims));
  for (std::size_t rank = 0; rank < one.ranks.size(); ++rank) {
    Record& record = state.records.emplace_back();
    record.identity.name = std::string("t");
    record.shape = one.ranks[rank].shape;
    record.piece.rank = static_cast<std::int32_t>(rank);
    record.placement = placement;
    if (one.stated) record.logical = one.shape;
    record.at = one.mesh.coordinates(static_cast<std::int64_t>(rank));
  }
  return state;
}

/// Storage position -> index in the tensor.
std::map<std::int64_t, std::int64_t> held_by(const Tensor& tensor, const Piece& piece) {
  std::vector<Cell> cells = piece.cells;
  if (cells.empty()) cells.push_back({whole(tensor.shape), 0, row_major_strides(tensor.shape)});
  std::map<std::int64_t, std::int64_t> held;
  for (const Cell& cell : cells) {
    for (std::int64_t i = 0; i < volume(cell.box); ++i) {
      Extents index = unravel(cell.box.size, i);
      std::int64_t place = cell.start;
      for (std::size_t d = 0; d < index.size(); ++d) {
        place += index[d] * cell.strides[d];
        index[d] += cell.box.lo[d];
      }
      CHECK(held.emplace(place, linear_index(tensor.shape, index)).second);
    }
  }
  return held;
}

TEST_CASE("all ranks hold what the grammar says, and together each element once") {
  for (const Case& one : cases()) {
    CAPTURE(one.dims);
    CAPTURE(one.shape);
    CAPTURE(one.ranks.size());
    const Assembly made = assemble(state_of(one), one.mesh, {});
    for (const Finding& finding : made.findings) CHECK(finding.message == "");
    REQUIRE(made.tensors.size() == 1);
    const Tensor& tensor = made.tensors.front();
    CHECK(tensor.shape == one.shape);
    std::map<std::int32_t, std::map<std::int64_t, std::int64_t>> by_rank;
    std::vector<std::int64_t> times(static_cast<std::size_t>(element_count(one.shape)), 0);
    for (const Piece& piece : tensor.pieces) {
      by_rank[piece.rank] = held_by(tensor, piece);
      for (const auto& [place, index] : by_rank[piece.rank]) {
        ++times[static_cast<std::size_t>(index)];
      }
    }
    for (const Piece& piece : tensor.replicas) by_rank[piece.rank] = held_by(tensor, piece);
    CHECK(times == std::vector<std::int64_t>(times.size(), 1));
    for (std::size_t rank = 0; rank < one.ranks.size(); ++rank) {
      CAPTURE(rank);
      std::map<std::int64_t, std::int64_t> expected;
      for (std::size_t i = 0; i < one.ranks[rank].indices.size(); ++i) {
        const std::int64_t index = one.ranks[rank].indices[i];
        if (index >= 0) expected[static_cast<std::int64_t>(i)] = index;
      }
      CHECK(by_rank[static_cast<std::int32_t>(rank)] == expected);
    }
  }
}

}  // namespace
}  // namespace ttcheck::assemble
