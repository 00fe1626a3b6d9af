// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/rank_name.hpp"

#include <doctest/doctest.h>

namespace ttcheck::formats {
namespace {

TEST_CASE("verl's names say role, world and rank") {
  const auto name = rank_file_name("optim_world_size_8_rank_3.pt");
  REQUIRE(name);
  CHECK(name->role == RankRole::optimizer);
  CHECK(name->world == 8);
  CHECK(name->rank == 3);
  CHECK(name->of(7) == "optim_world_size_8_rank_7.pt");
  CHECK_FALSE(rank_file_name("optim_world_size_8_rank_8.pt"));
  CHECK_FALSE(rank_file_name("optim_world_size_8_rank_3.bin"));
}

TEST_CASE("other names say a rank, and perhaps a world") {
  const auto plain = rank_file_name("rank_12.pth");
  REQUIRE(plain);
  CHECK(plain->role == RankRole::whole);
  CHECK(plain->world == 0);
  CHECK(plain->rank == 12);
  CHECK(plain->of(0) == "rank_0.pth");
  const auto padded = rank_file_name("rank_03.pt");
  REQUIRE(padded);
  CHECK(padded->of(7) == "rank_07.pt");
  const auto stated = rank_file_name("ckpt-rank0-of-4.pt");
  REQUIRE(stated);
  CHECK(stated->world == 4);
  CHECK(stated->of(3) == "ckpt-rank3-of-4.pt");
  const auto optimizer = rank_file_name("optimizer.rank.1.ckpt");
  REQUIRE(optimizer);
  CHECK(optimizer->role == RankRole::optimizer);
  for (const char* other :
       {"model.pt", "rank.pt", "rank_x.pt", "rank_-1.pt", "rank_0.json", "rank4-of-4.pt",
        "rank_0_of.pt", "mp_rank_00_model_states.pt", "rank_99999999999999999999.pt", ""}) {
    CHECK_FALSE(rank_file_name(other));
  }
}

}  // namespace
}  // namespace ttcheck::formats
