// SPDX-License-Identifier: Apache-2.0
#include "core/align/user_maps.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/align/rescaling.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

/// Two sides of tensors of four numbers, all of them alone.
struct Scene {
  std::vector<Tensor> reference, candidate;
  Bench bench;

  Scene(const std::vector<std::string>& left, const std::vector<std::string>& right)
      : reference(named(left)), candidate(named(right)) {
    bench.reference = reference;
    bench.candidate = candidate;
    for (std::size_t i = 0; i < left.size(); ++i) bench.left.push_back(i);
    for (std::size_t j = 0; j < right.size(); ++j) bench.right.push_back(j);
  }

  static std::vector<Tensor> named(const std::vector<std::string>& names) {
    static const tests::ArraySource source(std::vector<std::byte>(1 << 8));
    std::vector<Tensor> all;
    for (const std::string& name : names) {
      all.push_back(tests::named(name, tests::tensor_of(source, DType::f32, {2, 2})));
    }
    return all;
  }

  void apply(const std::string& from, const std::string& to, const std::string& op) {
    const MapRule rule{from, to, op, {}};
    pair_rescaled(bench, rule, {});
    pair_by_map(bench, candidate, rule, {});
  }
};

TEST_CASE("a renaming pairs both ways") {
  Scene scene({"x.w", "y"}, {"z", "n.w"});
  scene.apply("x.*", "n.*", "same");
  REQUIRE(scene.bench.done.pairs.size() == 1);
  CHECK(scene.bench.done.pairs[0].candidate == 1);
  CHECK(scene.bench.done.pairs[0].rule == "map x.*");
  CHECK(scene.bench.done.pairs[0].rescaling == nullptr);
  Scene turned({"n.w"}, {"x.w"});
  turned.apply("x.*", "n.*", "same");
  CHECK(turned.bench.done.pairs.size() == 1);
}

TEST_CASE("what is ignored is left out of both sides") {
  Scene scene({"x.w", "y"}, {"x.w"});
  scene.apply("x.*", "", "ignore");
  CHECK(scene.bench.left == std::vector<std::size_t>{1});
  CHECK(scene.bench.right.empty());
  CHECK(scene.bench.done.pairs.empty());
}

TEST_CASE("a map that changes values says so of each pair") {
  Scene scene({"x"}, {"n"});
  scene.apply("x", "n", "scale(2)");
  REQUIRE(scene.bench.done.pairs.size() == 1);
  CHECK(scene.bench.done.pairs[0].rule == "map x, scale(2)");
  REQUIRE(scene.bench.done.pairs[0].rescaling != nullptr);
  Scene unknown({"x"}, {"n"});
  unknown.apply("x", "n", "scale(c)");
  CHECK(unknown.bench.done.pairs.empty());
  CHECK(unknown.bench.done.unknown.contains("c"));
}

}  // namespace
}  // namespace ttcheck::align
