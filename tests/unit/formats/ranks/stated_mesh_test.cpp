// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/stated_mesh.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

TEST_CASE("words for one axis are one axis; what groups ranks anew is an expert axis") {
  std::map<std::int32_t, StatedPlace> places;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const std::int64_t dp = rank / 2;
    const std::int64_t tp = rank % 2;
    places[rank] = {{"tp", {tp, 2}},   {"dp", {dp, 2}}, {"attn_tp", {tp, 2}},
                    {"ep", {rank, 4}}, {"pp", {0, 1}},  {"sp", {tp, 2}}};
  }
  const StatedMesh stated = mesh_of(places);
  CHECK(stated.mesh.axes == std::vector<Axis>{{"dp", 2}, {"tp", 2}});
  CHECK(stated.mesh.expert_axes == std::vector<Axis>{{"ep", 4}});
  CHECK(stated.mesh.coordinates(2) == Coordinates{{"dp", 1}, {"ep", 2}, {"tp", 0}});
  using Same = std::vector<std::pair<std::string, std::string>>;
  CHECK(stated.same == Same{{"sp", "tp"}, {"attn_tp", "tp"}});
  CHECK(mesh_of({}).mesh == Mesh{});
  CHECK(mesh_of({{0, {{"tp", {0, 1}}}}}).mesh == Mesh{});
}

TEST_CASE("ranks that are stated and not there are part of the mesh") {
  CHECK(mesh_of({{0, {{"tp", {0, 2}}}}}).mesh.world_size() == 2);
  CHECK(mesh_of({{0, {{"tp", {0, 2}}}}, {1, {{"tp", {1, 2}}}}}, 4).mesh.world_size() == 4);
  StatedPlace axes;
  for (int i = 0; i < 40; ++i) axes[std::to_string(i)] = {0, 2};
  CHECK_THROWS_AS(mesh_of({{0, axes}}), Error);
  CHECK_THROWS_AS(mesh_of({{1'048'575, {{"tp", {1, 2}}}}}), Error);
}

TEST_CASE("places that contradict each other are refused") {
  CHECK_THROWS_AS(mesh_of({{0, {{"tp", {2, 2}}}}}), Error);
  CHECK_THROWS_AS(mesh_of({{0, {{"tp", {0, 0}}}}}), Error);
  CHECK_THROWS_AS(mesh_of({{0, {{"tp", {0, 2}}}}, {1, {{"tp", {1, 3}}}}}), Error);
  CHECK_THROWS_AS(mesh_of({{2'000'000'000, {{"tp", {0, 2}}}}}), Error);
}

}  // namespace
}  // namespace ttcheck::formats
