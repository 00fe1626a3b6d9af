// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/missing.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ttcheck::assemble {
namespace {

using Ranks = std::vector<std::int32_t>;

Mesh mesh_of(std::vector<Axis> axes) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  return mesh;
}

/// Records of these ranks, placed by dims.
State state_of(const Ranks& held) {
  State state;
  for (const std::int32_t rank : held) {
    Record& record = state.records.emplace_back();
    record.piece.rank = rank;
    record.placement = std::make_shared<const Placement>();
  }
  return state;
}

Ranks ranks_in(const MissingRanks& missing) {
  return {missing.ranks().begin(), missing.ranks().end()};
}

TEST_CASE("ranks of which there is nothing") {
  struct Row {
    std::string what;
    Mesh mesh;
    Ranks held, stated, silent, unreadable, missing;
  };
  const Mesh four = mesh_of({{"dp", 2}, {"tp", 2}});
  const std::vector<Row> rows = {
      {"none", four, {0, 1, 2, 3}, {}, {}, {}, {}},
      {"the first", four, {1, 2, 3}, {}, {}, {}, {0}},
      {"the last", four, {0, 1, 2}, {}, {}, {}, {3}},
      {"two between", four, {0, 3}, {}, {}, {}, {1, 2}},
      {"in any order, more than once", four, {3, 0, 0, 3, 1, 0}, {}, {}, {}, {2}},
      {"of no record", four, {}, {}, {}, {}, {}},
      {"of records without a rank", four, {kNoRank}, {}, {}, {}, {}},
      {"records without a rank beside others", four, {kNoRank, 2}, {}, {}, {}, {0, 1, 3}},
      {"of a mesh of one", mesh_of({{"dp", 1}}), {3}, {}, {}, {}, {}},
      {"of a mesh of two", mesh_of({{"dp", 2}}), {3}, {}, {}, {}, {0, 1}},
      {"no mesh", {}, {1}, {}, {}, {}, {}},
      {"of a mesh beyond counting", mesh_of({{"dp", INT64_MAX}, {"tp", 2}}), {0}, {}, {}, {}, {}},
      {"silent ones", four, {2}, {}, {0, 3}, {}, {1}},
      {"stated ones", {}, {0}, {5, 7}, {}, {}, {5, 7}},
      {"stated ones of the mesh", four, {0, 1}, {3}, {}, {}, {2, 3}},
      {"unreadable ones", four, {1, 3}, {}, {}, {2, 0}, {0, 2}},
      {"both, ascending", {}, {0}, {9}, {}, {5}, {5, 9}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    State state = state_of(row.held);
    state.missing_ranks = row.stated;
    state.silent_ranks = row.silent;
    for (const std::int32_t rank : row.unreadable) state.unreadable_ranks.emplace(rank, Error(""));
    CHECK(ranks_in(MissingRanks(state, row.mesh)) == row.missing);
  }
}

TEST_CASE("a mesh tells ranks only where arrays lie on it or are of a trace") {
  const Mesh mesh = mesh_of({{"dp", 2}});
  State state = state_of({0, 0});
  for (Record& record : state.records) record.placement = nullptr;
  CHECK(MissingRanks(state, mesh).ranks().empty());
  state.records[1].trace = std::make_shared<const TraceRecord>();
  CHECK(ranks_in(MissingRanks(state, mesh)) == Ranks{1});
  state.records[1].trace = nullptr;
  state.records[0].placement = std::make_shared<const Placement>();
  CHECK(ranks_in(MissingRanks(state, mesh)) == Ranks{1});
}

std::vector<Finding> reported(const MissingRanks& missing) {
  std::vector<Finding> findings;
  missing.report(findings);
  return findings;
}

TEST_CASE("what is said of them") {
  struct Row {
    std::string what;
    Mesh mesh;
    std::vector<Ranks> holes;  ///< of each tensor with holes
    std::vector<std::string> messages;
  };
  const std::vector<Row> rows = {
      {"no holes",
       mesh_of({{"dp", 4}}),
       {},
       {"rank 1 of 4 holds nothing; tensors with holes for it: 0", "torn"}},
      {"holes",
       mesh_of({{"dp", 4}}),
       {{1}, {1, 3}},
       {"rank 1 of 4 holds nothing; tensors with holes for it: 2",
        "torn; tensors with holes for rank 3 of 4: 1"}},
      {"beyond the mesh",
       mesh_of({{"dp", 3}}),
       {{3}},
       {"rank 1 of 3 holds nothing; tensors with holes for it: 0",
        "torn; tensors with holes for rank 3: 1"}},
      {"a mesh that ends there",
       mesh_of({{"dp", 1}}),
       {},
       {"rank 1 holds nothing; tensors with holes for it: 0", "torn"}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    State state = state_of({0, 2});
    for (Record& record : state.records) record.placement = nullptr;
    state.missing_ranks = {1};
    state.unreadable_ranks.emplace(3, Error("torn", {"r3.pt", 8, "w"}));
    state.step = 12;
    MissingRanks missing(state, row.mesh);
    for (const Ranks& ranks : row.holes) missing.count(ranks);
    const std::vector<Finding> findings = reported(missing);
    REQUIRE(findings.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const bool torn = i == 1;
      CHECK(findings[i].message == row.messages[i]);
      CHECK(findings[i].code == (torn ? Code::unreadable : Code::missing_rank));
      CHECK(findings[i].where == (torn ? std::optional(Where{"r3.pt", 8, "w"}) : std::nullopt));
      CHECK(findings[i].ranks == Ranks{torn ? 3 : 1});
      CHECK(findings[i].step == 12);
      CHECK(findings[i].incomplete);
      CHECK(findings[i].severity == Severity::error);
    }
  }
}

TEST_CASE("a rank of the mesh alone is not said to be one of one") {
  State state;
  state.missing_ranks = {0};
  CHECK(reported(MissingRanks(state, {})).front().message ==
        "rank 0 holds nothing; tensors with holes for it: 0");
}

TEST_CASE("of more ranks than are listed it is said that there are more") {
  const auto said = [](std::int64_t world, bool unreadable) {
    State state = state_of({0});
    state.step = 3;
    if (unreadable) state.unreadable_ranks.emplace(1, Error("torn"));
    return reported(MissingRanks(state, mesh_of({{"dp", world}})));
  };
  constexpr std::int64_t kMost = kMaxRanksListed;
  CHECK(said(kMost, false).size() == kMost - 1);
  const std::vector<Finding> all = said(kMost + 1, false);
  REQUIRE(all.size() == kMost + 1);
  CHECK(all.front().message ==
        "of 1025 ranks 1024 and more hold nothing, the first of them are listed");
  CHECK(all.front().code == Code::missing_rank);
  CHECK(all.front().step == 3);
  CHECK(all.front().incomplete);
  CHECK(all.front().ranks.empty());
  CHECK(all[1].ranks == Ranks{1});
  CHECK(all.back().ranks == Ranks{kMost});
  CHECK(said(kMost + 1, true).size() == kMost);  // one of them for another reason
  CHECK(said(kMost + 2, true).size() == kMost);
  CHECK(said(kMost + 9, false).back().ranks == Ranks{kMost});
}

}  // namespace
}  // namespace ttcheck::assemble
