// SPDX-License-Identifier: Apache-2.0
#include "core/align/shared_storage.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::align {
namespace {

const tests::ArraySource kHere = tests::ArraySource::of(std::vector<float>(64));
const tests::ArraySource kThere = tests::ArraySource::of(std::vector<float>(64));

Tensor tensor_at(std::string name, std::uint64_t offset, Shape shape = {4}) {
  Tensor tensor = tests::tensor_of(kHere, DType::f32, std::move(shape));
  tensor.identity.name = std::move(name);
  tensor.pieces[0].offset = offset;
  return tensor;
}

std::string twin_name(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& alone,
                      std::size_t of) {
  const Tensor* twin = SharedStorage(tensors, alone).twin_of(of);
  return twin == nullptr ? "none" : twin->identity.name;
}

TEST_CASE("a tensor in the very bytes of another") {
  struct Row {
    std::string what;
    std::function<void(Tensor&)> change;  ///< of the other one
    std::string twin;
  };
  const std::vector<Row> rows = {
      {"the same", [](Tensor&) {}, "b"},
      {"at another place", [](Tensor& b) { b.pieces[0].offset = 4; }, "none"},
      {"of another source", [](Tensor& b) { b.pieces[0].source = &kThere; }, "none"},
      {"of no source", [](Tensor& b) { b.pieces[0].source = nullptr; }, "none"},
      {"of another shape", [](Tensor& b) { b.shape = {2, 2}; }, "none"},
      {"of another dtype", [](Tensor& b) { b.dtype = DType::i32; }, "none"},
      {"stored in another dtype", [](Tensor& b) { b.pieces[0].dtype = DType::i32; }, "none"},
      {"in other cells", [](Tensor& b) { b.pieces[0].cells = {{{{0}, {4}}, 0, {1}}}; }, "none"},
      {"of one piece more", [](Tensor& b) { b.pieces.push_back(b.pieces[0]); }, "none"},
      {"of no piece", [](Tensor& b) { b.pieces.clear(); }, "none"},
      {"not stored", [](Tensor& b) { b.stored = false; }, "none"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<Tensor> tensors = {tensor_at("a", 0), tensor_at("b", 0)};
    row.change(tensors[1]);
    CHECK(twin_name(tensors, {0}, 0) == row.twin);
  }
}

TEST_CASE("of several twins the first by name, and none that is alone itself") {
  const std::vector<Tensor> tensors = {tensor_at("x", 0), tensor_at("c", 0), tensor_at("a", 0),
                                       tensor_at("b", 0), tensor_at("y", 16)};
  CHECK(twin_name(tensors, {0}, 0) == "a");
  CHECK(twin_name(tensors, {0, 2}, 0) == "b");
  CHECK(twin_name(tensors, {0, 1, 2, 3}, 0) == "none");
  CHECK(twin_name(tensors, {4}, 4) == "none");
}

TEST_CASE("what holds no bytes has no twin") {
  std::vector<Tensor> tensors = {tensor_at("a", 0, {0}), tensor_at("b", 0, {0})};
  CHECK(twin_name(tensors, {0}, 0) == "none");
  tensors[0].pieces.clear();
  CHECK(twin_name(tensors, {0}, 0) == "none");
}

TEST_CASE("of very many tensors in one place only some are looked at") {
  std::vector<Tensor> tensors = {tensor_at("a", 0)};
  for (int i = 0; i < 64; ++i) tensors.push_back(tensor_at("b", 0, {i < 1 ? 4 : 2}));
  CHECK(twin_name(tensors, {0}, 0) == "b");
}

}  // namespace
}  // namespace ttcheck::align
