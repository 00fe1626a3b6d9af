// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_by_content.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::align {
namespace {

using Met = std::vector<std::string>;

/// Tensors of f32, and the arrays that they read.
class Made {
 public:
  /// `count` numbers from `first` on.
  Tensor row(const std::string& name, Shape shape, float first, float step = 1) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = first + step * static_cast<float>(i);
    return of(name, std::move(shape), values);
  }

  /// Zeros, but for the last.
  Tensor ending_in(const std::string& name, Shape shape, float last) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    values.back() = last;
    return of(name, std::move(shape), values);
  }

 private:
  Tensor of(const std::string& name, Shape shape, const std::vector<float>& values) {
    sources_.push_back(tests::ArraySource::of(values));
    return tests::named(name, tests::tensor_of(sources_.back(), DType::f32, std::move(shape)));
  }

  std::deque<tests::ArraySource> sources_;
};

std::optional<Content> content_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  gather(tensor, begin, count, std::as_writable_bytes(std::span(values)));
  const bool constant = std::ranges::all_of(values, [&](float v) { return v == values[0]; });
  return Content{fmt::format("{}", fmt::join(values, " ")), constant};
}

struct Result {
  Met met;
  std::size_t left, right;
};

Result met(const std::vector<Tensor>& reference, std::vector<Tensor> candidate,
           const Numbers& numbers = {}) {
  Bench bench{reference, candidate, {}, {}, {}};
  for (std::size_t i = 0; i < reference.size(); ++i) bench.left.push_back(i);
  for (std::size_t j = 0; j < candidate.size(); ++j) bench.right.push_back(j);
  pair_by_content(bench, candidate, numbers, content_of);
  Result result{{}, bench.left.size(), bench.right.size()};
  for (const PairIndex& pair : bench.done.pairs) {
    const Tensor& left = reference[pair.reference];
    const Tensor& right = candidate[pair.candidate];
    result.met.push_back(left.identity.name + " > " + right.identity.name + " by " + pair.rule);
    const std::int64_t count = element_count(left.shape);
    CHECK(left.shape == right.shape);
    CHECK(content_of(left, 0, count)->hash == content_of(right, 0, count)->hash);
  }
  return result;
}

TEST_CASE("whole tensors meet by their bytes, not by their places") {
  Made made;
  const auto result =
      met({made.row("head", {2, 8}, 0), made.row("embed", {2, 8}, 50)},
          {made.row("p0", {2, 8}, 50), made.row("p1", {2, 8}, 0), made.row("p2", {16}, 0)});
  CHECK(result.met == Met{"head > p1 by equal bytes", "embed > p0 by equal bytes"});
  CHECK(result.right == 1);
}

TEST_CASE("what begins alike meets by all that it holds, also behind zeros") {
  Made made;
  const auto result = met({made.ending_in("a", {5000}, 1), made.ending_in("b", {5000}, 2)},
                          {made.ending_in("p", {5000}, 2), made.ending_in("q", {5000}, 1)});
  CHECK(result.met == Met{"a > q by equal bytes", "b > p by equal bytes"});
}

TEST_CASE("constants meet where others did, as many on both sides") {
  Made made;
  const Tensor one = made.row("one", {8}, 1, 0), other = made.row("other", {8}, 1, 0);
  CHECK(met({one}, {other}).met.empty());
  const Tensor a = made.row("a", {8}, 3), b = made.row("b", {8}, 3);
  CHECK(met({one, a}, {other, b}).met.size() == 2);
  CHECK(met({one, a}, {other, b, other}).met.size() == 1);
}

TEST_CASE("what one side joins and the other cuts, either way") {
  Made made;
  const std::vector<Tensor> parts = {made.row("v", {2, 8}, 100), made.row("q", {4, 8}, 0),
                                     made.row("k", {2, 8}, 50)};
  std::vector<float> values;
  for (const auto& [first, count] : {std::pair{0, 32}, {50, 16}, {100, 16}}) {
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(first + i));
  }
  const auto source = tests::ArraySource::of(values);
  const Tensor whole = tests::named("qkv", tests::tensor_of(source, DType::f32, {8, 8}));
  const auto cut = met({whole}, parts);
  CHECK(cut.met == Met{"qkv > {q,k,v} by equal bytes, concat(0)"});
  CHECK(cut.left + cut.right == 0);
  const auto joined = met(parts, {whole});
  CHECK(joined.met == Met{"q > qkv by equal bytes, concat(0)", "k > qkv by equal bytes, concat(0)",
                          "v > qkv by equal bytes, concat(0)"});
  CHECK(joined.left + joined.right == 0);
}

TEST_CASE("a part that is missing leaves all alone") {
  Made made;
  const auto result = met({made.row("qkv", {8, 8}, 0)}, {made.row("q", {4, 8}, 0)});
  CHECK(result.met.empty());
  CHECK(result.left == 1);
  CHECK(result.right == 1);
}

}  // namespace
}  // namespace ttcheck::align
