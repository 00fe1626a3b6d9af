// SPDX-License-Identifier: Apache-2.0
#include "core/align/expert_stacks.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::align {
namespace {

struct Named {
  std::string name;
  Shape shape;
};

std::vector<Tensor> tensors_of(const std::vector<Named>& list) {
  std::vector<Tensor> tensors;
  for (const Named& one : list) {
    tensors.emplace_back().identity.name = one.name;
    tensors.back().shape = one.shape;
  }
  return tensors;
}

/// gate_up_proj and down_proj of a layer.
std::vector<Named> layer(const std::string& at, Shape wide, Shape down,
                         const std::string& suffix = "") {
  return {{at + ".mlp.experts.gate_up_proj" + suffix, std::move(wide)},
          {at + ".mlp.experts.down_proj" + suffix, std::move(down)}};
}

std::vector<Named> both(std::vector<Named> all, const std::vector<Named>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Of 4 experts, f = 3 and h = 5.
const Shape kWide = {4, 6, 5}, kDown = {4, 5, 3};
const Shape kWideTurned = {4, 5, 6}, kDownTurned = {4, 3, 5};

TEST_CASE("which way experts lie") {
  struct Row {
    std::string what;
    std::vector<Named> tensors, other;
    std::optional<bool> transposed;
  };
  const std::optional<bool> unknown;
  const auto upright = layer("l.0", kWide, kDown);
  const auto turned = layer("l.1", kWideTurned, kDownTurned);
  const std::vector<Row> rows = {
      {"nothing", {}, {}, unknown},
      {"upright", upright, {}, false},
      {"transposed", turned, {}, true},
      {"upright, its wide one square", layer("l.0", {4, 6, 6}, {4, 6, 3}), {}, false},
      {"transposed, its down one square", layer("l.0", {4, 3, 6}, {4, 3, 3}), {}, true},
      {"names that end in weight", layer("l.0", kWide, kDown, ".weight"), {}, false},
      {"state of the optimizer", layer("l.0", kWide, kDown, "@exp_avg"), {}, false},
      {"the wide one behind", {upright[1], upright[0]}, {}, false},
      {"the other side tells", {}, turned, true},
      {"a side tells for itself", upright, turned, false},
      {"two layers", both(upright, layer("l.2", {4, 2, 7}, {4, 7, 1})), {}, false},
      {"two layers that tell otherwise", both(upright, turned), {}, unknown},
      {"two layers that tell otherwise, the other side does", both(upright, turned), turned, true},
      {"a layer that does not tell", both(layer("l.2", {4, 6, 7}, {4, 7, 2}), upright), {}, false},
      {"a down one of another layer", {upright[0], turned[1]}, {}, unknown},
      {"of other numbers of experts", layer("l.0", {3, 6, 5}, kDown), {}, unknown},
      {"an odd wide one", layer("l.0", {4, 7, 5}, kDown), {}, unknown},
      {"a wide one of nothing", layer("l.0", {4, 0, 5}, {4, 5, 0}), {}, unknown},
      {"a transposed one of nothing", layer("l.0", {4, 5, 0}, {4, 0, 5}), {}, unknown},
      {"of other widths", layer("l.0", kWide, {4, 6, 3}), {}, unknown},
      {"not twice as wide", layer("l.0", {4, 6, 5}, {4, 5, 2}), {}, unknown},
      {"transposed, of other widths", layer("l.0", kWideTurned, {4, 3, 6}), {}, unknown},
      {"a layer that does not tell behind",
       both(upright, layer("l.2", {4, 6, 7}, {4, 7, 2})),
       {},
       false},
      {"tables", layer("l.0", {6, 5}, {5, 3}), {}, unknown},
      {"a table beside a stack", layer("l.0", kWide, {4, 5}), {}, unknown},
      {"what goes on", layer("l.0", kWide, kDown, "_scale"), {}, unknown},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(ExpertStacks(tensors_of(row.tensors), tensors_of(row.other)).transposed() ==
          row.transposed);
  }
}

const Named kBias = {"l.0.mlp.experts.gate_up_proj_bias", {4, 6}};

TEST_CASE("biases of experts, of either side") {
  const auto biased = [](const std::vector<Named>& tensors, const std::vector<Named>& other) {
    return ExpertStacks(tensors_of(tensors), tensors_of(other)).biased();
  };
  CHECK_FALSE(biased({}, {}));
  CHECK_FALSE(biased({{"l.0.mlp.experts.gate_up_proj", {}}}, {{kBias.name + "es", {}}}));
  CHECK(biased({{"w", {}}, kBias}, {}));
  CHECK(biased({}, {kBias}));
}

TEST_CASE("a stack that lies otherwise than on the other side, and one of which nothing tells") {
  const ExpertStacks upright(tensors_of(layer("l.0", kWide, kDown)), {});
  const ExpertStacks turned(tensors_of(layer("l.0", kWideTurned, kDownTurned)), {});
  const ExpertStacks unknown({}, {});
  const ExpertStacks biased(tensors_of({kBias}), {});
  struct Row {
    std::string name;
    Shape shape;
    bool stack, unclear;
  };
  const std::vector<Row> rows = {
      {"l.0.mlp.experts.gate_up_proj", {4, 6, 6}, true, true},
      {"l.0.mlp.experts.down_proj.weight", {4, 6, 6}, true, true},
      {"l.0.mlp.experts.down_proj@exp_avg_sq", {4, 6, 6}, true, true},
      {"l.0.mlp.experts.down_proj", {4, 6, 5}, true, false},
      {"l.0.mlp.experts.down_proj", {6, 6}, true, false},
      {"l.0.mlp.experts.up_proj", {4, 6, 6}, false, false},
      {"mlp.experts.down_proj", {4, 6, 6}, false, false},
  };
  for (const Row& row : rows) {
    INFO(row.name, " ", row.shape.size());
    Tensor tensor;
    tensor.identity.name = row.name;
    tensor.shape = row.shape;
    CHECK(upright.turned_against(turned, tensor) == row.stack);
    CHECK(turned.turned_against(upright, tensor) == row.stack);
    CHECK_FALSE(upright.turned_against(upright, tensor));
    CHECK_FALSE(upright.turned_against(unknown, tensor));
    CHECK_FALSE(unknown.turned_against(turned, tensor));
    CHECK(unknown.unclear(tensor) == row.unclear);
    CHECK_FALSE(upright.unclear(tensor));
    CHECK_FALSE(turned.unclear(tensor));
    CHECK_FALSE(biased.unclear(tensor));
  }
}

TEST_CASE("stacks of square matrices") {
  CHECK(has_square_parts({4, 6, 6}));
  CHECK(has_square_parts({4, 0, 0}));
  CHECK_FALSE(has_square_parts({4, 4, 6}));
  CHECK_FALSE(has_square_parts({6, 6}));
  CHECK_FALSE(has_square_parts({4, 6, 6, 6}));
}

}  // namespace
}  // namespace ttcheck::align
