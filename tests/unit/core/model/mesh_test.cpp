// SPDX-License-Identifier: Apache-2.0
#include "core/model/mesh.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

using tests::error_of;

Mesh ordered(std::vector<Axis> axes, std::vector<Axis> expert_axes = {}) {
  return {std::move(axes), std::move(expert_axes), {}};
}

Mesh listed(std::vector<Coordinates> ranks) { return {{}, {}, std::move(ranks)}; }

TEST_CASE("the world is the list of ranks, or the product of the axes") {
  struct Row {
    Mesh mesh;
    std::int64_t world;
  };
  Mesh both = listed({{{"tp", 0}}, {{"tp", 1}}, {{"tp", 2}}});
  both.axes = {{"tp", 8}};
  for (const Row& row : std::vector<Row>{{Mesh{}, 1},
                                         {ordered({{"tp", 1}}), 1},
                                         {ordered({{"pp", 2}, {"dp", 3}, {"tp", 4}}), 24},
                                         {ordered({{"pp", 2}, {"dp", 0}}), 0},
                                         {ordered({{"tp", 4}}, {{"ep", 2}, {"etp", 2}}), 4},
                                         {listed({{}}), 1},
                                         {both, 3}}) {
    CHECK(row.mesh.world_size() == row.world);
  }
  const Mesh most = ordered({{"dp", std::int64_t{1} << 31}, {"tp", std::int64_t{1} << 31}});
  CHECK(most.world_size() == std::int64_t{1} << 62);
  const Mesh more = ordered({{"dp", std::int64_t{1} << 32}, {"tp", std::int64_t{1} << 31}});
  CHECK(error_of([&] { (void)more.world_size(); }) == "product overflows");
}

TEST_CASE("an axis has the size that either order gives it, and one that is in none has 1") {
  const Mesh mesh = ordered({{"pp", 2}, {"tp", 4}}, {{"ep", 8}, {"pp", 3}});
  const Mesh sequence = ordered({{"sp", 5}, {"tp", 4}});
  for (const auto& [axis, size] : std::vector<std::pair<std::string, std::int64_t>>{
           {"pp", 2}, {"tp", 4}, {"ep", 8}, {"sp", 4}, {"dp", 1}, {"", 1}, {"t", 1}}) {
    INFO(axis);
    CHECK(mesh.size_of(axis) == size);
  }
  CHECK(sequence.size_of("sp") == 5);
  CHECK(ordered({}, {{"tp", 7}}).size_of("sp") == 7);
  CHECK(Mesh{}.size_of("sp") == 1);
}

TEST_CASE("ranks count with the last axis fastest, in both orders at once") {
  const Mesh mesh = ordered({{"pp", 2}, {"dp", 3}, {"tp", 2}}, {{"pp", 2}, {"ep", 6}});
  std::int64_t rank = 0;
  for (std::int64_t pp = 0; pp < 2; ++pp) {
    for (std::int64_t dp = 0; dp < 3; ++dp) {
      for (std::int64_t tp = 0; tp < 2; ++tp, ++rank) {
        INFO(rank);
        const Coordinates expected{{"pp", pp}, {"dp", dp}, {"tp", tp}, {"ep", 2 * dp + tp}};
        CHECK(mesh.coordinates(rank) == expected);
        CHECK(mesh.rank_at(expected) == rank);
      }
    }
  }
  CHECK(Mesh{}.coordinates(0).empty());
}

TEST_CASE("where the orders disagree on an axis, the ranks' own order counts") {
  const Mesh mesh = ordered({{"dp", 2}, {"tp", 2}}, {{"tp", 2}, {"ep", 2}});
  CHECK(mesh.coordinates(1) == Coordinates{{"dp", 0}, {"tp", 1}, {"ep", 1}});
  CHECK(mesh.coordinates(2) == Coordinates{{"dp", 1}, {"tp", 0}, {"ep", 0}});
}

TEST_CASE("listed coordinates are given as they were written down") {
  Mesh mesh = listed({{{"tp", 1}}, {{"tp", 0}, {"zz", 9}}});
  mesh.axes = {{"tp", 2}};
  CHECK(mesh.coordinates(0) == Coordinates{{"tp", 1}});
  CHECK(mesh.coordinates(1) == Coordinates{{"tp", 0}, {"zz", 9}});
}

TEST_CASE("a rank that there is not is refused") {
  const Mesh four = ordered({{"dp", 2}, {"tp", 2}});
  const Mesh two = listed({{{"tp", 0}}, {{"tp", 1}}});
  const Mesh none = ordered({{"tp", 0}});
  CHECK(error_of([&] { (void)four.coordinates(3); }).empty());
  CHECK(error_of([&] { (void)four.coordinates(4); }) == "rank 4 is outside of a world of 4");
  CHECK(error_of([&] { (void)four.coordinates(-1); }) == "rank -1 is outside of a world of 4");
  CHECK(error_of([&] { (void)two.coordinates(1); }).empty());
  CHECK(error_of([&] { (void)two.coordinates(2); }) == "rank 2 is outside of a world of 2");
  CHECK(error_of([&] { (void)none.coordinates(0); }) == "rank 0 is outside of a world of 0");
}

TEST_CASE("the rank at coordinates, if they are inside the mesh") {
  struct Row {
    Coordinates at;
    std::optional<std::int64_t> rank;
  };
  const Mesh mesh = ordered({{"pp", 2}, {"dp", 3}, {"tp", 4}}, {{"ep", 24}});
  for (const Row& row : std::vector<Row>{{{}, 0},
                                         {{{"tp", 3}}, 3},
                                         {{{"dp", 1}}, 4},
                                         {{{"pp", 1}}, 12},
                                         {{{"pp", 1}, {"dp", 2}, {"tp", 3}}, 23},
                                         {{{"ep", 5}}, 0},  // no axis of the ranks' order
                                         {{{"tp", 4}}, std::nullopt},
                                         {{{"tp", -1}}, std::nullopt},
                                         {{{"pp", 2}}, std::nullopt},
                                         {{{"dp", 3}, {"tp", 1}}, std::nullopt}}) {
    CHECK(mesh.rank_at(row.at) == row.rank);
  }
  CHECK(Mesh{}.rank_at({{"tp", 1}}) == 0);
  CHECK(ordered({{"dp", 2}, {"sp", 2}}).rank_at({{"tp", 1}}) == 1);
}

TEST_CASE("of listed ranks the first that has all that was named") {
  struct Row {
    Coordinates at;
    std::optional<std::int64_t> rank;
  };
  const Mesh mesh = listed({{{"pp", 1}, {"tp", 1}}, {{"tp", 1}}, {{"pp", 1}}, {{"pp", 1}}});
  for (const Row& row : std::vector<Row>{{{}, 0},
                                         {{{"pp", 1}, {"tp", 1}}, 0},
                                         {{{"pp", 0}}, 1},
                                         {{{"tp", 0}}, 2},
                                         {{{"sp", 0}}, 2},
                                         {{{"sp", 1}}, 0},
                                         {{{"pp", 0}, {"tp", 0}}, std::nullopt},
                                         {{{"dp", 1}}, std::nullopt}}) {
    CHECK(mesh.rank_at(row.at) == row.rank);
  }
}

TEST_CASE("a coordinate that is not there is 0; sp is tp then") {
  const Coordinates at{{"tp", 3}, {"dp", 2}};
  CHECK(coordinate(at, "tp") == 3);
  CHECK(coordinate(at, "sp") == 3);
  CHECK(coordinate(at, "pp") == 0);
  CHECK(coordinate({{"tp", 3}, {"sp", 1}}, "sp") == 1);
  CHECK(coordinate({{"dp", 2}}, "sp") == 0);
  CHECK(coordinate({{"sp", 2}}, "tp") == 0);
}

}  // namespace
}  // namespace ttcheck
