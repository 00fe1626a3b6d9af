// SPDX-License-Identifier: Apache-2.0
#include "core/diff/same_layers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <deque>

#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::diff {
namespace {

using tests::ArraySource;

/// Two layers of two matrices and a norm each; `seed` of the matrices of each layer.
class Model {
 public:
  explicit Model(const std::vector<float>& seeds) {
    for (std::size_t layer = 0; layer < seeds.size(); ++layer) {
      for (const char* part : {"q", "v"}) {
        std::vector<float> values(16, seeds[layer]);
        values[3] = 7;
        add(fmt::format("model.layers.{}.{}.weight", layer, part), values, {4, 4});
      }
      add(fmt::format("model.layers.{}.norm.weight", layer), std::vector<float>(16, 1), {16});
    }
    add("model.embed.weight", std::vector<float>(16, 2), {4, 4});
  }
  Model(const Model&) = delete;

  std::deque<Tensor> tensors;

 private:
  void add(const std::string& name, const std::vector<float>& values, Shape shape) {
    sources_.push_back(ArraySource::of(values));
    tensors.push_back(
        tests::named(name, tests::tensor_of(sources_.back(), DType::f32, std::move(shape))));
  }

  std::deque<ArraySource> sources_;
};

std::string found(const Model& reference, const Model& candidate) {
  std::vector<compare::Pair> pairs;
  for (std::size_t i = 0; i < reference.tensors.size(); ++i) {
    pairs.push_back({&reference.tensors[i], &candidate.tensors[i]});
  }
  std::string text;
  for (const Finding& finding : same_layers(pairs, compare::compare(pairs, {}), 3)) {
    CHECK(finding.code == Code::degenerate);
    CHECK(finding.severity == Severity::warning);
    CHECK(finding.step == 3);
    text += finding.message + "\n";
  }
  return text;
}

TEST_CASE("layers that are all the same, on either side") {
  const Model trained({1, 2, 3}), same({1, 1, 1}), half({1, 1, 2});
  CHECK(found(trained, trained).empty());
  CHECK(found(half, half).empty());
  CHECK(found(trained, same) ==
        "all layers of the candidate are the same: 6 matrices have the norm of the first's\n");
  CHECK(found(same, trained).starts_with("all layers of the reference are"));
  CHECK(found(same, same).find("candidate") != std::string::npos);
  const Model one({1});
  CHECK(found(one, one).empty());
}

}  // namespace
}  // namespace ttcheck::diff
