// SPDX-License-Identifier: Apache-2.0
#include "core/limits/context.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::limits {
namespace {

LimitContext observed(const std::string& name, DType dtype = DType::f32, Shape shape = {}) {
  LimitContext context;
  Tensor tensor;
  tensor.identity.name = name;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  observe(context, tensor);
  return context;
}

TEST_CASE("how deep a network is, by a name of one of its layers") {
  struct Row {
    std::string name;
    std::int64_t depth, encoder = 0, decoder = 0;
  };
  const std::vector<Row> rows = {
      {"", 1},
      {"weight", 1},
      {"layers", 1},
      {"layers.0.w", 1},
      {"layers.7.w", 8},
      {"layers.7", 8},
      {"model.layers.7.mlp.experts.64", 8},
      {"h.7.w", 8},
      {"layer.7.w", 8},
      {"my_blocks.7.w", 8},
      {"block.7.w", 8},
      {"block.7.layers.2.w", 8},
      {"block.2.layers.7.w", 8},
      {"hh.7.w", 1},
      {"layers.w.7", 1},
      {"layers.7w.x", 1},
      {"layers.-7.x", 1},
      {"layers.999.w", 1000},
      {"layers.1000.w", 1},
      {"layers.99999999999999999999.w", 1},
      {"mlp/layers.7", 1},  // a slot of the module `mlp`
      {"layers.7/output.0", 8},
      {"encoder.7.w", 8, 8, 0},
      {"decoder.7.w", 8, 0, 8},
      {"model.encoder.layers.7.w", 8, 8, 0},
      {"model.layers.7.decoder", 8, 0, 8},
      {"my_encoder.layers.7.w", 8},
      {"encoder_decoder.layers.7.w", 8},
      {"xencoder.encoder.layers.7.w", 8, 8, 0},
      {"decoder.w", 1, 0, 0},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const LimitContext context = observed(row.name);
    CHECK(context.depth == row.depth);
    CHECK(context.encoder == row.encoder);
    CHECK(context.decoder == row.decoder);
  }
}

TEST_CASE("the longest extents, of lines apart from others") {
  struct Row {
    Shape shape;
    std::int64_t matrix, flat, length;
  };
  const std::vector<Row> rows = {
      {{}, 0, 1, 1}, {{0}, 0, 1, 1}, {{9}, 0, 9, 9}, {{3, 5}, 5, 1, 5}, {{7, 1, 2}, 7, 1, 7},
  };
  for (const Row& row : rows) {
    const LimitContext context = observed("w", DType::f32, row.shape);
    CHECK(context.matrix == row.matrix);
    CHECK(context.flat == row.flat);
    CHECK(context.length() == row.length);
  }
}

TEST_CASE("the coarsest dtype of those that round") {
  struct Row {
    std::vector<DType> dtypes;
    DType coarsest;
  };
  const std::vector<Row> rows = {
      {{}, DType::f64},
      {{DType::f32}, DType::f32},
      {{DType::bf16, DType::f16, DType::f32}, DType::bf16},
      {{DType::f16, DType::bf16}, DType::bf16},
      {{DType::f32, DType::i8, DType::boolean}, DType::f32},
  };
  for (const Row& row : rows) {
    LimitContext all, joined;
    for (const DType dtype : row.dtypes) {
      Tensor tensor;
      tensor.dtype = dtype;
      observe(all, tensor);
      join(joined, observed("w", dtype));
    }
    CHECK(all.coarsest == row.coarsest);
    CHECK(joined.coarsest == row.coarsest);
  }
}

TEST_CASE("the longest way is through all layers, or the encoder's and then the decoder's") {
  LimitContext context = observed("encoder.layers.2.w");
  CHECK(context.layers() == 3);
  join(context, observed("decoder.layers.4.w"));
  CHECK(context.layers() == 8);
  join(context, observed("vision.layers.9.w"));
  CHECK(context.layers() == 10);
}

TEST_CASE("how many layers lie behind a record") {
  const auto record = [](const std::string& name, Phase phase, Kind kind) {
    Tensor tensor;
    tensor.identity.name = name;
    tensor.identity.phase = phase;
    tensor.kind = kind;
    tensor.shape = {2, 2};
    return tensor;
  };
  const auto output = [&](const std::string& name) {
    return record(name + "/output.0", Phase::forward, Kind::output);
  };
  const auto grad = [&](const std::string& name) {
    return record(name + "/main_grad.weight", Phase::backward, Kind::main_grad);
  };
  const auto after = [](const std::vector<Tensor>& seen) {
    LimitContext context;
    for (const Tensor& one : seen) observe(context, one, one);
    return context;
  };
  const LimitContext one = after({output("model.layers.0.mlp"), output("model.layers.7.mlp")});
  CHECK(one.layers_to(output("model.layers.0.mlp")) == 1);
  CHECK(one.layers_to(output("model.layers.7.mlp")) == 8);
  CHECK(one.layers_to(output("model.layers.2.experts.64")) == 3);
  CHECK(one.layers_to(output("model.norm")) == 8);
  CHECK(one.layers_to(record("loss", Phase::loss, Kind::loss)) == 8);
  CHECK(one.layers_to(grad("model.layers.7.mlp")) == 9);
  CHECK(one.layers_to(grad("model.layers.0.mlp")) == 16);
  CHECK(one.layers_to(grad("lm_head")) == 16);
  // A parameter is what updates left of it, wherever it stands.
  CHECK(one.layers_to(record("model.layers.0/param.w", Phase::state, Kind::weight)) == 8);
  // The other side's names say nothing of where the reference's records are.
  LimitContext renamed;
  observe(renamed, output("model.layers.3.mlp"), output("decoder.layers.3.mlp"));
  CHECK(renamed.layers_to(output("model.layers.0.mlp")) == 1);
  // Two stacks, or one within another: a number is no depth.
  const LimitContext two = after({output("vision.layers.3.mlp"), output("text.layers.7.mlp")});
  CHECK(two.layers_to(output("text.layers.0.mlp")) == 8);
  const LimitContext nested = after({output("stages.layers.1.blocks.7.conv")});
  CHECK(nested.layers_to(output("stages.layers.1.blocks.0.conv")) == 8);
  LimitContext joined = one;
  join(joined, two);
  CHECK(joined.layers_to(output("model.layers.0.mlp")) == 8);
  joined = one;
  join(joined, after({output("model.layers.1.mlp")}));
  CHECK(joined.layers_to(output("model.layers.0.mlp")) == 1);
}

TEST_CASE("what parts told is joined, the larger of each") {
  LimitContext large, small;
  large.depth = 9;
  large.encoder = 8;
  large.decoder = 7;
  large.matrix = 6;
  large.flat = 5;
  large.coarsest = DType::bf16;
  LimitContext up = small, down = large;
  join(up, large);
  join(down, small);
  for (const LimitContext& context : {up, down}) {
    CHECK(context.depth == 9);
    CHECK(context.encoder == 8);
    CHECK(context.decoder == 7);
    CHECK(context.matrix == 6);
    CHECK(context.flat == 5);
    CHECK(context.coarsest == DType::bf16);
  }
}

TEST_CASE("parameters are apart by noise or by chance") {
  CHECK_FALSE(Apart{}.any());
  CHECK(Apart{1e-9, 0}.any());
  CHECK(Apart{0, 1e-9}.any());
}

}  // namespace
}  // namespace ttcheck::limits
