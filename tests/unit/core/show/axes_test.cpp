// SPDX-License-Identifier: Apache-2.0
#include "core/show/axes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace ttcheck::show {
namespace {

std::string axes(const std::string& name, Kind kind, const Shape& shape, const Numbers& numbers,
                 const std::string& dims = "") {
  Tensor tensor;
  tensor.identity.name = name;
  tensor.kind = kind;
  tensor.shape = shape;
  if (!dims.empty()) tensor.placement = std::make_shared<Placement>(parse_dims(dims));
  std::string words;
  for (const compare::AxisChoice& axis : axes_to_show({&tensor, nullptr}, numbers)) {
    words += axis.name + ":" + std::to_string(axis.dim) + "/" + std::to_string(axis.group) + " ";
  }
  return words;
}

TEST_CASE("axes have the names that dims give them") {
  CHECK(axes("mlp/output.0", Kind::output, {2, 8, 16}, {}, "b s[cp] h") ==
        "batch:0/1 position:1/1 hidden:2/1 ");
  CHECK(axes("a.weight", Kind::weight, {4, 6}, {}, "x[tp] h") == "row:0/1 hidden:1/1 ");
  CHECK(axes("a.weight", Kind::weight, {4, 6}, {}, "*") == "row:0/1 column:1/1 ");
  CHECK(axes("a", Kind::weight, {4, 1, 6}, {}) == "dim 0:0/1 dim 2:2/1 ");
  CHECK(axes("a", Kind::weight, {4}, {}) == "elements:0/1 ");
  CHECK(axes("a", Kind::weight, {}, {}).empty());
}

TEST_CASE("heads lie where an attention's tensor has them") {
  const Numbers numbers{{"heads", 4}, {"kv_heads", 2}, {"head_dim", 8}, {"experts", 3}};
  CHECK(axes("self_attn.q_proj.weight", Kind::weight, {32, 32}, numbers) ==
        "row:0/1 head:0/8 column:1/1 ");
  CHECK(axes("self_attn.k_proj.weight", Kind::weight, {16, 32}, numbers) ==
        "row:0/1 head:0/8 column:1/1 ");
  CHECK(axes("self_attn.o_proj.weight", Kind::weight, {32, 32}, numbers) ==
        "row:0/1 column:1/1 head:1/8 ");
  CHECK(axes("self_attn.q_proj/output.0", Kind::output, {2, 5, 32}, numbers) ==
        "dim 0:0/1 dim 1:1/1 dim 2:2/1 head:2/8 ");
  CHECK(axes("self_attn.o_proj/output.0", Kind::output, {2, 5, 32}, numbers) ==
        "dim 0:0/1 dim 1:1/1 dim 2:2/1 ");
  CHECK(axes("mlp.up_proj.weight", Kind::weight, {32, 32}, numbers) == "row:0/1 column:1/1 ");
  CHECK(axes("mlp.experts.w1", Kind::weight, {3, 4, 5}, numbers) ==
        "expert:0/1 dim 1:1/1 dim 2:2/1 ");
}

TEST_CASE("heads that nothing tells are not shown") {
  for (const Numbers& numbers : {Numbers{}, Numbers{{"head_dim", 8}}, Numbers{{"heads", 1}}}) {
    CHECK(axes("self_attn.q_proj.weight", Kind::weight, {32, 32}, numbers) ==
          "row:0/1 column:1/1 ");
  }
  CHECK(axes("self_attn.q_proj.weight", Kind::weight, {32, 32}, {{"heads", 4}}) ==
        "row:0/1 head:0/8 column:1/1 ");
}

}  // namespace
}  // namespace ttcheck::show
