// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/stages.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ttcheck::assemble {
namespace {

using Ranks = std::set<std::int32_t>;
using Axes = std::set<std::string>;

Mesh mesh_of(std::vector<Axis> axes, std::vector<Axis> expert_axes = {}) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  mesh.expert_axes = std::move(expert_axes);
  return mesh;
}

TEST_CASE("the number of ranks of a mesh") {
  CHECK(world_of({}) == 1);
  CHECK(world_of(mesh_of({{"pp", 2}, {"dp", 3}})) == 6);
  CHECK(world_of(mesh_of({{"pp", INT64_MAX}, {"dp", 2}})) == 0);
}

TEST_CASE("along which axes a tensor lives where it lives") {
  for (const char* axis : {"pp", "vpp", "ep", "etp"}) {
    INFO(axis);
    CHECK(lives_where_it_lives(axis));
  }
  for (const char* axis : {"tp", "dp", "cp", "sp", "edp", "fsdp", "mb", "p", ""}) {
    INFO(axis);
    CHECK_FALSE(lives_where_it_lives(axis));
  }
}

TEST_CASE("ranks on the stages of holders that hold nothing") {
  struct Row {
    std::string what;
    Mesh mesh;
    Ranks holders;
    std::vector<std::int32_t> absent;
  };
  const Mesh two = mesh_of({{"pp", 2}, {"dp", 2}});    // stages {0, 1} and {2, 3}
  const Mesh inner = mesh_of({{"dp", 2}, {"pp", 2}});  // stages {0, 2} and {1, 3}
  const std::vector<Row> rows = {
      {"no holder", two, {}, {}},
      {"one of two", two, {0}, {1}},
      {"the last", two, {3}, {2}},
      {"a whole stage", two, {0, 1}, {}},
      {"one of each stage", two, {0, 3}, {1, 2}},
      {"three", two, {0, 1, 3}, {2}},
      {"all", two, {0, 1, 2, 3}, {}},
      {"without a rank", two, {-1}, {}},
      {"beyond the mesh", two, {0, 4}, {1}},
      {"as many as ranks, some beyond the mesh", two, {0, 3, 4, 5}, {1, 2}},
      {"stages across", inner, {0}, {2}},
      {"stages across, ascending", inner, {1, 2}, {0, 3}},
      {"stages across, the later one first", inner, {0, 3}, {1, 2}},
      {"no stages", mesh_of({{"tp", 3}}), {1}, {0, 2}},
      {"a stage each", mesh_of({{"pp", 3}}), {1}, {}},
      {"experts", mesh_of({{"ep", 2}, {"dp", 2}}), {1}, {0}},
      {"virtual stages", mesh_of({{"vpp", 2}, {"dp", 2}}), {2}, {3}},
      {"etp", mesh_of({{"etp", 2}, {"dp", 2}}), {2}, {3}},
      {"experts in an order of their own", mesh_of({{"dp", 4}}, {{"edp", 2}, {"ep", 2}}), {1}, {3}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(Stages(row.mesh).absent(row.holders) == row.absent);
  }
}

TEST_CASE("which ranks could hold a part beside a holder") {
  struct Row {
    std::string what;
    Mesh mesh;
    std::int32_t rank;
    Ranks holders;
    Axes sharded;
    bool beside;
  };
  // pp = r / 4, ep = r / 2 % 2, etp = tp = r % 2
  const Mesh apart = mesh_of({{"pp", 2}, {"dp", 2}, {"tp", 2}}, {{"pp", 2}, {"ep", 2}, {"etp", 2}});
  const Mesh joint = mesh_of({{"pp", 2}, {"ep", 2}, {"tp", 2}});
  const Mesh virtual_stages = mesh_of({{"vpp", 2}, {"tp", 2}}, {{"vpp", 2}, {"etp", 2}});
  const std::vector<Row> rows = {
      {"no holder", apart, 0, {}, {}, false},
      {"itself", apart, 0, {0}, {}, true},
      {"etp differs", apart, 1, {0}, {}, false},
      {"etp is cut", apart, 1, {0}, {"etp"}, true},
      {"ep differs", apart, 2, {0}, {"etp"}, false},
      {"ep is cut", apart, 2, {0}, {"ep"}, true},
      {"ep is cut, etp differs", apart, 3, {0}, {"ep"}, false},
      {"what tp cuts is of no expert", apart, 3, {0}, {"tp"}, true},
      {"what dp cuts may be", apart, 3, {0}, {"dp"}, false},
      {"another stage", apart, 4, {0}, {"tp"}, false},
      {"cut over stages", apart, 4, {0}, {"tp", "pp"}, true},
      {"beside the second holder", apart, 7, {0, 4}, {"tp"}, true},
      {"tp beside joint experts", joint, 1, {0}, {"tp"}, true},
      {"tp of another expert", joint, 2, {0}, {"tp"}, false},
      {"another virtual stage", virtual_stages, 2, {0}, {"tp"}, false},
      {"beyond the mesh", apart, 8, {0}, {}, true},
      {"a holder without a rank", apart, 4, {-1}, {}, true},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(Stages(row.mesh).beside(row.rank, row.holders, row.sharded) == row.beside);
  }
}

TEST_CASE("coordinates of ranks, of meshes up to 65536") {
  struct Row {
    std::string what;
    Mesh mesh;
    std::int32_t rank;
    bool listed;
  };
  const std::vector<Row> rows = {
      {"no axis", {}, 0, true},
      {"beyond no axis", {}, 1, false},
      {"no rank", mesh_of({{"dp", 4}}), -1, false},
      {"the last", mesh_of({{"dp", 4}}), 3, true},
      {"beyond the last", mesh_of({{"dp", 4}}), 4, false},
      {"the largest mesh", mesh_of({{"dp", 65536}}), 65535, true},
      {"a larger one", mesh_of({{"dp", 65537}}), 0, false},
      {"one beyond counting", mesh_of({{"pp", INT64_MAX}, {"dp", 2}}), 0, false},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Stages stages(row.mesh);
    const Coordinates* at = stages.at(row.rank);
    CHECK((at != nullptr) == row.listed);
    if (at != nullptr) CHECK(*at == row.mesh.coordinates(row.rank));
  }
}

}  // namespace
}  // namespace ttcheck::assemble
