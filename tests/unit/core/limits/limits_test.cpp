// SPDX-License-Identifier: Apache-2.0
#include "core/limits/limits.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/named_tensor.hpp"

namespace ttcheck::limits {
namespace {

Tensor tensor(const std::string& name, DType dtype, Shape shape = {4, 16}) {
  Tensor made = tests::named_tensor(name, std::move(shape));
  made.dtype = dtype;
  return made;
}

TEST_CASE("the context is the coarsest dtype, the depth and the longest extent seen") {
  LimitContext context;
  observe(context, tensor("layers.0.mlp/output.0", DType::f32, {4, 512}));
  observe(context, tensor("layers.11.mlp/output.0", DType::bf16));
  CHECK(context.coarsest == DType::bf16);
  CHECK(context.depth == 12);
  CHECK(context.length() == 512);
}

TEST_CASE("numbers that count no layers do not deepen a model, nor buffers lengthen its sums") {
  LimitContext context;
  observe(context, tensor("buffer", DType::f32, {100000}));
  CHECK(context.length() == 100000);
  observe(context, tensor("layers.1.mlp.experts.255.down_proj/output.0", DType::f32));
  observe(context, tensor("model.block_table.999999", DType::f32));
  observe(context, tensor("layers.70000/output.0", DType::f32));
  CHECK(context.depth == 2);
  CHECK(context.length() == 16);
  observe(context, tensor("encoder.block.7.layer.1/output.0", DType::f32));
  CHECK(context.depth == 8);
  CHECK(context.layers() == 8);
}

TEST_CASE("a decoder lies behind its encoder") {
  LimitContext context;
  observe(context, tensor("model.encoder.layers.5.mlp/output.0", DType::f32));
  observe(context, tensor("decoder.3.mlp/output.0", DType::f32));
  CHECK(context.layers() == 10);
}

TEST_CASE("integers, bools and step counters are exact whatever was asked") {
  LimitContext context;
  LimitOptions options;
  options.rtol = {{"", 1.0}};
  CHECK(limit_for(tensor("ids", DType::i64), tensor("ids", DType::i64), context, options).kind ==
        LimitKind::exact);
  CHECK(limit_for(tensor("w@step", DType::f32), tensor("w@step", DType::f32), context, options)
            .kind == LimitKind::exact);
}

TEST_CASE("the last tolerance that matches a name wins; the flag not given is 0") {
  LimitOptions options;
  options.rtol = {{"", 1e-3}, {"a.*", 1e-5}};
  const auto limit = tolerance_for(options, "a.w");
  REQUIRE(limit);
  CHECK(limit->rtol == 1e-5);
  CHECK(limit->atol == 0);
  CHECK(limit->rel == 1);
  options.rtol.clear();
  CHECK(!tolerance_for(options, "a.w"));
}

TEST_CASE("what the relation of two states allows holds where no flag says otherwise") {
  Limit copy;
  copy.kind = LimitKind::copy;
  const Tensor w = tensor("w", DType::f32);
  CHECK(limit_for(w, w, {}, {}, &copy).kind == LimitKind::copy);
  LimitOptions model;
  model.mode = LimitOptions::Mode::model;
  CHECK(limit_for(w, w, {}, model, &copy).kind == LimitKind::model);
  CHECK(limit_for(w, w, {}, {}).kind == LimitKind::model);
}

TEST_CASE("the model grows with eps, reduction length and the root of depth") {
  LimitContext context;
  context.trace = true;
  context.coarsest = DType::bf16;
  context.depth = 4;
  const Tensor x = tensor("x", DType::bf16);
  CHECK(limit_for(x, x, context, {}).rel == doctest::Approx(3 * 0.0078125 * 2));
  context.coarsest = DType::f32;
  context.matrix = 64;
  const Limit limit = limit_for(x, x, context, {});
  CHECK(limit.rel == doctest::Approx((8 + 8) * std::pow(2.0, -23) * 2));
  CHECK(limit.row == doctest::Approx(6 * limit.rel));
  CHECK(limit.outlier == doctest::Approx(16 * limit.rel));
}

TEST_CASE("what parameters are apart is allowed to what is computed with them, up to a limit") {
  LimitContext context;
  context.trace = true;
  context.coarsest = DType::bf16;
  Tensor x = tensor("x/output.0", DType::bf16);
  x.kind = Kind::output;
  x.identity.phase = Phase::forward;
  x.shape = {4};
  Tensor gradient = x;
  gradient.identity.phase = Phase::backward;
  Tensor norm = gradient;
  norm.shape = {};
  Tensor weight = tensor("x/param.weight", DType::bf16);
  weight.identity.phase = Phase::optimizer;
  const double before = limit_for(x, x, context, {}).rel;
  const double twice = limit_for(gradient, gradient, context, {}).rel;
  CHECK(twice == doctest::Approx(std::sqrt(2.0) * before));
  CHECK(limit_for(norm, norm, context, {}).rel == doctest::Approx(before));
  const double parameter = limit_for(weight, weight, context, {}).rel;
  context.apart.noise = 0.01;
  const Limit limit = limit_for(x, x, context, {});
  CHECK(limit.rel == doctest::Approx(before + 0.01));
  CHECK(limit.row == doctest::Approx(6 * limit.rel));
  CHECK(limit.outlier == doctest::Approx(16 * limit.rel));
  CHECK(limit.source == "bf16 model: 3 eps x sqrt(depth 1) + 0.01 that parameters are apart");
  CHECK(limit.words() == "bf16 model: 3 eps x sqrt(depth 1) + what parameters are apart");
  CHECK(limit_for(gradient, gradient, context, {}).rel == doctest::Approx(twice + 0.02));
  CHECK(limit_for(weight, weight, context, {}).rel == parameter);
  context.apart.noise = 1;
  CHECK(limit_for(x, x, context, {}).rel == doctest::Approx(2 * before));
  context.apart.chance = 0.5;
  CHECK(limit_for(x, x, context, {}).rel == doctest::Approx(2 * before + 2.5));
  CHECK(limit_for(weight, weight, context, {}).rel == doctest::Approx(parameter + 2.5 / 3));
}

}  // namespace
}  // namespace ttcheck::limits
