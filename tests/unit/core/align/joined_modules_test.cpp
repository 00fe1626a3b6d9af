// SPDX-License-Identifier: Apache-2.0
#include "core/align/joined_modules.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using Met = std::vector<std::string>;

/// Records of f32, and the arrays that they read.
class Made {
 public:
  /// The numbers of a whole's rows, or places along the last dim, from `first` on.
  Tensor record(const std::string& name, Phase phase, Kind kind, Shape shape, float first) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    sources_.push_back(tests::ArraySource::of(values));
    Tensor made =
        tests::named(name, tests::tensor_of(sources_.back(), DType::f32, std::move(shape)));
    made.identity.phase = phase;
    made.kind = kind;
    return made;
  }

  /// What a trace has of a module of `rows` rows from `first` on, of 8 columns.
  std::vector<Tensor> module(const std::string& name, std::int64_t rows, float first) {
    return {record(name + "/param.weight", Phase::state, Kind::weight, {rows, 8}, first),
            record(name + "/param.bias", Phase::state, Kind::weight, {rows}, first),
            record(name + "/output.0", Phase::forward, Kind::output, {3, rows}, 7),
            record(name + "/grad_output.0", Phase::backward, Kind::grad_output, {3, rows}, 7),
            record(name + "/main_grad.weight", Phase::sync, Kind::main_grad, {rows, 8}, 7)};
  }

 private:
  std::deque<tests::ArraySource> sources_;
};

std::optional<Content> content_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  gather(tensor, begin, count, std::as_writable_bytes(std::span(values)));
  return Content{fmt::format("{}", fmt::join(values, " ")), false};
}

std::vector<Tensor> all_of(std::initializer_list<std::vector<Tensor>> modules) {
  std::vector<Tensor> all;
  for (const auto& one : modules) all.insert(all.end(), one.begin(), one.end());
  return all;
}

Alignment met(const std::vector<Tensor>& reference, std::vector<Tensor> candidate,
              const ContentOf& content, std::span<const JoinedModules> known = {}) {
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  pair_joined_modules(bench, candidate, {}, content, known);
  for (const PairIndex& pair : bench.done.pairs) {
    CHECK(reference[pair.reference].shape == candidate[pair.candidate].shape);
    CHECK(pair.rule == "equal bytes, concat(0)");
  }
  bench.done.only_reference = bench.left;
  bench.done.only_candidate = bench.right;
  return std::move(bench.done);
}

TEST_CASE("what modules make meets as their loaded weights are joined, on either side") {
  Made made;
  const auto cut = all_of({made.module("x.a", 4, 0), made.module("x.b", 2, 32)});
  const auto whole = made.module("x.mix", 6, 0);
  const Alignment forth = met(cut, whole, content_of);
  CHECK(forth.pairs.size() == cut.size());
  CHECK(forth.only_candidate.empty());
  REQUIRE(forth.joined.size() == 1);
  CHECK(forth.joined[0].whole == "x.mix");
  CHECK(forth.joined[0].parts == Met{"x.a", "x.b"});
  CHECK_FALSE(forth.joined[0].in_reference);
  const Alignment back = met(whole, cut, content_of);
  CHECK(back.pairs.size() == whole.size());
  CHECK(back.only_candidate.empty());
  CHECK(back.joined.at(0).in_reference);
}

TEST_CASE("other weights are no proof, but what an earlier step proved is") {
  Made made;
  const auto cut = all_of({made.module("x.a", 4, 0), made.module("x.b", 2, 32)});
  const auto moved = made.module("x.mix", 6, 0.5F);
  CHECK(met(cut, moved, content_of).pairs.empty());
  CHECK(met(cut, made.module("x.mix", 6, 0), {}).pairs.empty());
  const JoinedModules known{false, "x.mix", {"x.a", "x.b"}, "concat(0)"};
  const Alignment then = met(cut, moved, content_of, std::span(&known, 1));
  CHECK(then.pairs.size() == cut.size());
  CHECK(then.joined.empty());
}

}  // namespace
}  // namespace ttcheck::align
