// SPDX-License-Identifier: Apache-2.0
// Pickled distributed tensors: meshes of three ages, placements as dims lines, shards as boxes.

#include "formats/torch/distributed.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "formats/objects/known.hpp"
#include "tests/support/distributed_pickle.hpp"
#include "tests/support/opened_torch.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::kStorage;
using tests::OpenedTorch;
using tests::torch_archive;

const std::string kLocal = tensor({});
const std::string kDpTp = tuple({text("dp"), text("tp")});

/// A file whose object is {"w": value}.
struct File {
  explicit File(const std::string& value, const std::string& storage = kStorage)
      : opened(torch_archive(dict({{"w", value}}), storage)) {}

  Value value() const { return mapping(opened.file->root())->front().second; }

  DistributedTensor read(std::optional<std::int32_t> rank) const {
    DistributedReader reader(*opened.file, rank);
    return reader.read(value());
  }

  std::string line(std::int32_t rank) const {
    const DistributedTensor made = read(rank);
    return made.placement ? to_string(*made.placement) : "whole";
  }

  OpenedTorch opened;
};

File on_2x2(const std::string& placements, const std::string& order = kNone) {
  return File(
      dtensor(numbers({8, 4}), mesh({{2, 2}, {2, 1}}, kDpTp, 4), placements, kLocal, order));
}

TEST_CASE("a DTensor has its logical shape, its line and its rank's coordinates") {
  const File file = on_2x2(tuple({shard(0), shard(1)}));
  CHECK(is_distributed(file.value()));
  CHECK(distributed_shape(file.value()) == Shape{8, 4});
  const DistributedTensor made = file.read(2);
  CHECK(made.shape == Shape{8, 4});
  CHECK(made.at == Coordinates{{"dp", 1}, {"tp", 0}});
  CHECK(made.parts.size() == 1);
  CHECK(file.line(2) == "d0[dp] d1[tp]");
}

TEST_CASE("axes cut in mesh order, unless a factor or the order of shards says otherwise") {
  CHECK(on_2x2(tuple({shard(0), shard(0)})).line(0) == "d0[dp,tp] d1");
  CHECK(on_2x2(tuple({strided(0, 2), shard(0)})).line(0) == "d0[tp,dp] d1");
  CHECK(on_2x2(tuple({strided(0, 3), shard(0)})).line(0) == "d0[dp:stride=3,tp] d1");
  CHECK(on_2x2(tuple({strided(0, 2), replicate()})).line(0) == "d0[dp:stride=2] d1");
  const auto entry = call("torch.distributed.tensor._dtensor_spec", "ShardOrderEntry",
                          {integer(0), numbers({1, 0})});
  CHECK(on_2x2(tuple({shard(0), shard(0)}), tuple({entry})).line(0) == "d0[tp,dp] d1");
  const auto twice = call("torch.distributed.tensor._dtensor_spec", "ShardOrderEntry",
                          {integer(0), numbers({1, 1})});
  CHECK(on_2x2(tuple({shard(0), shard(0)}), tuple({twice})).line(0) == "d0[dp,tp] d1");
}

TEST_CASE("copies need no line, addends name how they are joined") {
  CHECK(on_2x2(tuple({replicate(), replicate()})).line(3) == "whole");
  CHECK(on_2x2(tuple({shard(-1), partial("sum")})).line(3) == "d0 d1[dp] # tp:partial");
  CHECK_THROWS_AS(on_2x2(tuple({shard(0), partial("product")})).line(0), Error);
}

TEST_CASE("placements that fit no tensor or mesh are refused") {
  CHECK_THROWS_AS(on_2x2(tuple({shard(2), shard(0)})).line(0), Error);
  CHECK_THROWS_AS(on_2x2(tuple({shard(0)})).line(0), Error);
  CHECK_THROWS_AS(on_2x2(tuple({strided(0, 0), shard(0)})).line(0), Error);
  CHECK_THROWS_AS(on_2x2(tuple({integer(1), shard(0)})).line(0), Error);
  CHECK_THROWS_AS(on_2x2(tuple({shard(0), shard(1)})).line(4), Error);
}

TEST_CASE("the layout of torch 2.9 lists sizes and strides of all axes") {
  const std::string layout = object("torch.distributed._mesh_layout", "_MeshLayout",
                                    dict({{"shape", tuple({integer(2), numbers({2, 2})})},
                                          {"stride", tuple({integer(2), numbers({4, 1})})}}));
  const std::string made = object("torch.distributed.device_mesh", "DeviceMesh",
                                  dict({{"_layout", layout},
                                        {"_mesh_dim_names", kDpTp},
                                        {"_flatten_rank_map", numbers({0, 1, 2, 3, 4, 5, 6, 7})}}));
  const File file(dtensor(numbers({8, 4}), made, tuple({shard(0), shard(1)}), kLocal));
  CHECK(file.read(6).at == Coordinates{{"dp", 1}, {"tp", 2}});
  CHECK(file.read(1).at == Coordinates{{"dp", 0}, {"tp", 1}});
}

TEST_CASE("up to torch 2.8 a mesh is a tensor of ranks, which need not be in order") {
  const std::string ranks = std::string("\6\0\0\0\4\0\0\0\2\0\0\0\0\0\0\0", 16);
  const std::string held =
      tensor({.storage = "IntStorage", .count = 4, .size = {2, 2}, .stride = {2, 1}});
  const std::string made = object("torch.distributed._tensor.device_mesh", "DeviceMesh",
                                  dict({{"mesh", held}, {"mesh_dim_names", kDpTp}}));
  const File file(dtensor(numbers({8, 4}), made, tuple({shard(0), shard(1)}), kLocal), ranks);
  CHECK(file.read(2).at == Coordinates{{"dp", 1}, {"tp", 0}});
  CHECK_THROWS_AS(file.read(1), Error);
}

TEST_CASE("axes that a line could not hold get names of their own") {
  const File file(dtensor(numbers({8, 4}),
                          mesh({{2, 2}, {2, 1}}, tuple({text("a]b"), text("mb")}), 4),
                          tuple({shard(0), shard(1)}), kLocal));
  CHECK(file.line(0) == "d0[mesh0] d1[mesh1]");
}

TEST_CASE("meshes that hold what cannot be are refused") {
  for (const auto& [size, stride] :
       {std::pair<std::int64_t, std::int64_t>{0, 1}, {-2, 1}, {2, 0}, {std::int64_t{1} << 62, 1}}) {
    INFO(size);
    const File file(dtensor(numbers({8, 4}), mesh({{size, stride}, {4, 1}}, kDpTp, 4),
                            tuple({shard(0), shard(1)}), kLocal));
    CHECK_THROWS_AS(file.read(0), Error);
  }
}

TEST_CASE("a ShardedTensor's shards are boxes, and it says which rank wrote them") {
  const File file(
      sharded(numbers({6, 2}), list({integer(4), integer(0)}), numbers({2, 2}), kLocal, 2, 3));
  DistributedReader reader(*file.opened.file, 2);
  const DistributedTensor made = reader.read(file.value());
  CHECK(made.boxed);
  CHECK(made.shape == Shape{6, 2});
  REQUIRE(made.parts.size() == 1);
  CHECK(made.parts[0].lo == Extents{4, 0});
  CHECK(made.parts[0].size == Extents{2, 2});
  CHECK(reader.ranks() == std::set<std::int64_t>{2});
  CHECK(reader.worlds() == std::set<std::int64_t>{3});
}

TEST_CASE("a plain torch file lists a rank's part and does not compare it") {
  const File file = on_2x2(tuple({shard(0), shard(1)}));
  CHECK(file.opened.state.records.empty());
  CHECK(file.opened.state.unreadable == 1);
  CHECK(file.opened.warning("rank's part of a distributed tensor"));
}

TEST_CASE("a shard of another shape than its box is unreadable, the rest is read") {
  const File file(
      sharded(numbers({6, 2}), list({integer(4), integer(0)}), numbers({1, 2}), kLocal, 0, 1));
  DistributedReader reader(*file.opened.file, 0);
  TorchPart part;
  part.distributed = &reader;
  const State state = torch_state(*file.opened.file, part);
  CHECK(state.records.empty());
  CHECK(state.unreadable == 1);
}

}  // namespace
}  // namespace ttcheck::formats
