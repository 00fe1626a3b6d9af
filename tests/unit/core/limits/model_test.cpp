// SPDX-License-Identifier: Apache-2.0
// The formula of ttcheck-limits.7: rel <= c eps sqrt(L) k.

#include "core/limits/model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace ttcheck::limits {
namespace {

Tensor tensor_of(Kind kind, Phase phase = Phase::none, Shape shape = {4}) {
  Tensor tensor;
  tensor.kind = kind;
  tensor.identity.phase = phase;
  tensor.shape = std::move(shape);
  return tensor;
}

struct Setting {
  DType coarsest = DType::f32;
  std::int64_t depth = 1, matrix = 0, flat = 1, encoder = 0, decoder = 0;
};

auto context_of(const Setting& setting) {
  LimitContext context;
  context.coarsest = setting.coarsest;
  context.depth = setting.depth;
  context.matrix = setting.matrix;
  context.flat = setting.flat;
  context.encoder = setting.encoder;
  context.decoder = setting.decoder;
  return context;
}

TEST_CASE("the limit of a tensor by dtype, length, depth and kind") {
  struct Row {
    std::string what;
    Tensor tensor;
    Setting setting;
    double rel;
    std::string source;
  };
  const double e16 = std::ldexp(1.0, -7), h16 = std::ldexp(1.0, -10);  // spacings at 1
  const double e32 = std::ldexp(1.0, -23), e64 = std::ldexp(1.0, -52);
  const Tensor weight = tensor_of(Kind::weight);
  const std::vector<Row> rows = {
      {"fp32", weight, {}, 9 * e32, "f32 model: 9 eps x sqrt(depth 1)"},
      {"fp64", weight, {DType::f64}, 9 * e64, "f64 model: 9 eps x sqrt(depth 1)"},
      {"bf16 rounds when it stores",
       weight,
       {DType::bf16, 1, 100},
       3 * e16,
       "bf16 model: 3 eps x sqrt(depth 1)"},
      {"fp16", weight, {DType::f16}, 3 * h16, "f16 model: 3 eps x sqrt(depth 1)"},
      {"of a matrix",
       weight,
       {DType::f32, 1, 100, 400},
       18 * e32,
       "f32 model: 18 eps x sqrt(depth 1)"},
      {"of lines alone",
       weight,
       {DType::f32, 1, 0, 400},
       28 * e32,
       "f32 model: 28 eps x sqrt(depth 1)"},
      {"deep", weight, {DType::f32, 9}, 9 * e32 * 3, "f32 model: 9 eps x sqrt(depth 9)"},
      {"an encoder before a decoder",
       weight,
       {DType::f32, 9, 0, 1, 9, 16},
       9 * e32 * 5,
       "f32 model: 9 eps x sqrt(depth 25)"},
      {"a second moment",
       tensor_of(Kind::moment2),
       {},
       18 * e32,
       "f32 model: 18 eps x sqrt(depth 1)"},
      {"a first moment", tensor_of(Kind::moment1), {}, 9 * e32, "f32 model: 9 eps x sqrt(depth 1)"},
      {"a parameter after its update",
       tensor_of(Kind::weight, Phase::optimizer),
       {},
       3 * e32,
       "f32 model: 3 eps x sqrt(depth 1)"},
      {"a master copy after its update",
       tensor_of(Kind::master, Phase::optimizer),
       {},
       3 * e32,
       "f32 model: 3 eps x sqrt(depth 1)"},
      {"a first moment of an update",
       tensor_of(Kind::moment1, Phase::optimizer),
       {},
       9 * e32 * std::sqrt(2.0),
       "f32 model: 9 eps x sqrt(depth 2)"},
      {"a parameter before it",
       tensor_of(Kind::weight, Phase::state),
       {},
       9 * e32,
       "f32 model: 9 eps x sqrt(depth 1)"},
      {"a master copy in the backward pass",
       tensor_of(Kind::master, Phase::backward),
       {},
       9 * e32,
       "f32 model: 9 eps x sqrt(depth 1)"},
      {"an output",
       tensor_of(Kind::output, Phase::forward),
       {},
       9 * e32,
       "f32 model: 9 eps x sqrt(depth 1)"},
      {"the loss",
       tensor_of(Kind::loss, Phase::loss),
       {},
       9 * e32,
       "f32 model: 9 eps x sqrt(depth 1)"},
      {"a gradient went there and back",
       tensor_of(Kind::grad, Phase::backward),
       {DType::f32, 8},
       9 * e32 * 4,
       "f32 model: 9 eps x sqrt(depth 16)"},
      {"a number of all gradients",
       tensor_of(Kind::other, Phase::clip, {}),
       {DType::f32, 4},
       9 * e32 * 2,
       "f32 model: 9 eps x sqrt(depth 4)"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const Limit limit = model_limit(row.tensor, context_of(row.setting));
    CHECK(limit.kind == LimitKind::model);
    CHECK(limit.rel == doctest::Approx(row.rel).epsilon(1e-12));
    CHECK(limit.row == doctest::Approx(6 * row.rel).epsilon(1e-12));
    CHECK(limit.outlier == doctest::Approx(16 * row.rel).epsilon(1e-12));
    CHECK(limit.source == row.source);
    const bool one = row.source.ends_with("depth 1)");
    const std::size_t depth = row.source.rfind(' ');
    CHECK(limit.words() ==
          (one ? row.source : row.source.substr(0, depth) + ", up to" + row.source.substr(depth)));
  }
}

TEST_CASE("what parameters are apart widens a limit of 1e-3") {
  struct Row {
    std::string what;
    Tensor tensor;
    Apart apart;
    double more;
    std::string words;  ///< of it; empty: nothing is said
  };
  const Tensor output = tensor_of(Kind::output, Phase::forward);
  const Tensor grad = tensor_of(Kind::grad, Phase::backward);
  const Tensor weight = tensor_of(Kind::weight, Phase::optimizer);
  const std::vector<Row> rows = {
      {"nothing", output, {}, 0, ""},
      {"noise", output, {2e-4, 0}, 2e-4, " + 0.0002 that parameters are apart"},
      {"noise, twice by then", grad, {2e-4, 0}, 4e-4, " + 0.0004 that parameters are apart"},
      {"noise of a square",
       tensor_of(Kind::moment2, Phase::optimizer),
       {2e-4, 0},
       8e-4,
       " + 0.0008 that parameters are apart"},
      {"at most the limit", output, {1, 0}, 1e-3, " + 0.001 that parameters are apart"},
      {"noise of a parameter", weight, {1, 0}, 0, ""},
      {"noise of a master copy", tensor_of(Kind::master, Phase::forward), {1, 0}, 0, ""},
      {"chance", output, {0, 3e-3}, 15e-3, " + 0.015 that parameters are apart"},
      {"chance, twice by then", grad, {0, 3e-3}, 30e-3, " + 0.03 that parameters are apart"},
      {"chance of a parameter", weight, {1, 3e-3}, 5e-3, " + 0.005 that parameters are apart"},
      {"both", output, {1, 3e-3}, 16e-3, " + 0.016 that parameters are apart"},
      {"noise that is no number", output, {std::nan(""), 0}, 0, ""},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Limit limit;
    limit.rel = 1e-3;
    limit.row = 2;
    limit.outlier = 3;
    limit.source = "so";
    widen_by_apart(limit, row.tensor, row.apart);
    CHECK(limit.rel == doctest::Approx(1e-3 + row.more).epsilon(1e-12));
    CHECK(limit.row == doctest::Approx(2 + 6 * row.more).epsilon(1e-12));
    CHECK(limit.outlier == doctest::Approx(3 + 16 * row.more).epsilon(1e-12));
    CHECK(limit.source == "so" + row.words);
    CHECK(limit.group == (row.words.empty() ? "" : "so + what parameters are apart"));
  }
  Limit grouped;
  grouped.group = "all";
  widen_by_apart(grouped, output, {1, 1});
  CHECK(grouped.group == "all");
}

TEST_CASE("the model widens by what is apart") {
  auto context = context_of({});
  context.apart.chance = 1e-3;
  const Limit limit = model_limit(tensor_of(Kind::output, Phase::forward), context);
  CHECK(limit.rel == doctest::Approx(9 * std::ldexp(1.0, -23) + 5e-3).epsilon(1e-12));
  CHECK(limit.words() == "f32 model: 9 eps x sqrt(depth 1) + what parameters are apart");
}

}  // namespace
}  // namespace ttcheck::limits
