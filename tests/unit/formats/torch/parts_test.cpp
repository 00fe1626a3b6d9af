// SPDX-License-Identifier: Apache-2.0
// Tensors that are no plain arrays, read as what they are stored as.

#include "formats/torch/parts.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/opened_torch.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::OpenedTorch;
using tests::torch_archive;

const std::string kArray = tensor({});

OpenedTorch opened(const std::string& value) {
  return OpenedTorch(torch_archive(dict({{"w", value}})));
}

std::string storage(std::string_view name, std::int64_t count) {
  return tuple({text("storage"), global("torch", name), text("0"), text("cpu"), integer(count)}) +
         "Q";
}

TEST_CASE("a sparse tensor is its indices and values") {
  const OpenedTorch file =
      opened(call("torch._utils", "_rebuild_sparse_tensor",
                  {call("torch.serialization", "_get_layout", {text("torch.sparse_coo")}),
                   tuple({kArray, kArray, call("torch", "Size", {numbers({3, 7})}), "\x88"})}));
  CHECK(file.record("w@indices") != nullptr);
  CHECK(file.record("w@values") != nullptr);
  CHECK(file.state.unreadable == 0);
  const Fact* size = find_fact(file.state.facts, "w@size");
  REQUIRE(size != nullptr);
  CHECK(to_string(size->value) == "[3, 7]");
}

TEST_CASE("a quantised tensor is its integers, with scale and zero point as facts") {
  const OpenedTorch file = opened(
      call("torch._utils", "_rebuild_qtensor",
           {storage("QInt8Storage", 16), integer(0), numbers({4, 4}), numbers({4, 1}),
            tuple({global("torch", "per_tensor_affine"), integer(2), integer(3)}), "\x89", "N"}));
  const Record* record = file.record("w@int_repr");
  REQUIRE(record != nullptr);
  CHECK(record->dtype == DType::i8);
  CHECK(record->shape == Shape{4, 4});
  CHECK(record->kind == Kind::other);
  CHECK(find_fact(file.state.facts, "w@zero_point") != nullptr);
}

TEST_CASE("a quantised tensor that leaves its storage is unreadable") {
  const OpenedTorch file = opened(
      call("torch._utils", "_rebuild_qtensor",
           {storage("QInt32Storage", 4), integer(1), numbers({4}), numbers({1}),
            tuple({global("torch", "per_tensor_affine"), integer(2), integer(3)}), "\x89", "N"}));
  CHECK(file.state.records.empty());
  CHECK(file.state.unreadable == 1);
}

TEST_CASE("a meta tensor has nothing to compare but what it says") {
  const OpenedTorch file =
      opened(call("torch._utils", "_rebuild_meta_tensor_no_storage",
                  {global("torch", "float32"), numbers({9, 4}), numbers({4, 1}), "\x89"}));
  CHECK(file.state.records.empty());
  CHECK(file.state.unreadable == 0);
  CHECK(find_fact(file.state.facts, "w@size") != nullptr);
}

TEST_CASE("parts that are not there leave the whole out") {
  for (const char* name :
       {"_rebuild_sparse_tensor", "_rebuild_nested_tensor", "_rebuild_qtensor"}) {
    const OpenedTorch file = opened(call("torch._utils", name, {kArray}));
    CHECK(file.state.records.empty());
    CHECK(file.state.unreadable == 1);
  }
}

TEST_CASE("moments in the container of bitsandbytes: shapes give their numbers names") {
  const auto row = [](std::int64_t count) { return tensor({.size = {count}, .stride = {1}}); };
  const auto moments = [&](std::int64_t count) {
    return dict(
        {{"step", integer(3)}, {"__bnb_optimizer_quant_state__", dict({{"state1", row(count)}})}});
  };
  const std::string state = "}(" + integer(0) + moments(2) + integer(1) + moments(4) + "u";
  const std::string groups = list({dict({{"params", list({integer(0), integer(1)})}})});
  const OpenedTorch file(
      torch_archive(dict({{"model", dict({{"frozen", row(3)}, {"a", row(2)}, {"b", row(4)}})},
                          {"optimizer", dict({{"state", state}, {"param_groups", groups}})}})));
  for (const auto& [name, count] : {std::pair("a@state1", 2), {"b@state1", 4}}) {
    const Record* record = file.record(name);
    REQUIRE(record != nullptr);
    CHECK(record->shape == Shape{count});
    CHECK(record->kind == Kind::other);
  }
}

}  // namespace
}  // namespace ttcheck::formats
