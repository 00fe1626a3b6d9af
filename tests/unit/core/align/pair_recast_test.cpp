// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_recast.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

const tests::ArraySource kZeros(std::vector<std::byte>(1 << 10));

Tensor stored(const std::string& name, const Shape& shape) {
  return tests::named(name, tests::tensor_of(kZeros, DType::f32, shape));
}

/// `ab` is `a` over `b`, which `halves` says of each name that ends so.
std::vector<Reading> halves(const Tensor& tensor) {
  const std::string& name = tensor.identity.name;
  if (name == "ab") return {{"fused", {"a", "b"}, parse_op("concat(0)")}};
  return {{"apart", {name}, parse_op("same")}};
}

Bench bench_of(const std::vector<Tensor>& reference, const std::vector<Tensor>& candidate) {
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  return bench;
}

TEST_CASE("parts meet the whole, seen through the map") {
  const std::vector<Tensor> reference = {stored("ab", {4, 2}), stored("c", {1})};
  std::vector<Tensor> candidate = {stored("b", {2, 2}), stored("d", {1}), stored("a", {2, 2})};
  Bench bench = bench_of(reference, candidate);
  pair_recast(bench, candidate, {halves, halves}, {}, ", noted");
  REQUIRE(bench.done.pairs.size() == 1);
  CHECK(bench.done.pairs[0].reference == 0);
  CHECK(bench.done.pairs[0].candidate == 3);
  CHECK(bench.done.pairs[0].rule == "apart for fused names, noted");
  REQUIRE(candidate.size() == 4);
  CHECK(candidate[3].shape == Shape{4, 2});
  CHECK(bench.candidate.data() == candidate.data());
  CHECK(bench.left == std::vector<std::size_t>{1});
  CHECK(bench.right == std::vector<std::size_t>{1});
}

TEST_CASE("masters stand for their parameters") {
  const std::vector<Tensor> reference = {stored("ab@master", {4, 2})};
  std::vector<Tensor> candidate = {stored("a", {2, 2}), stored("b", {2, 2})};
  Bench plain = bench_of(reference, candidate);
  pair_recast(plain, candidate, {halves, halves}, {});
  CHECK(plain.done.pairs.empty());
  Bench bench = bench_of(reference, candidate);
  pair_masters_recast(bench, candidate, {halves, halves}, {});
  REQUIRE(bench.done.pairs.size() == 1);
  CHECK(bench.done.pairs[0].rule == "apart for fused names, master-for-param");
  CHECK(bench.left.empty());
  CHECK(bench.right.empty());
}

}  // namespace
}  // namespace ttcheck::align
