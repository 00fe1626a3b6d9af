#include "core/explain/reduction.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

using tests::ArraySource;
using tests::tensor_of;

constexpr std::int64_t kRows = 12, kColumns = 6;
constexpr double kAllowed = 1e-5;

/// An output [rows, columns], each element another.
std::vector<float> output(double from) {
  std::vector<float> values;
  for (int i = 0; i < kRows * kColumns; ++i) {
    values.push_back(static_cast<float>(std::sin(from + 1.7 * i)));
  }
  return values;
}

/// Two ranks' parts of it, to each of which `bias` is added.
std::optional<Explanation> reduced(const std::vector<float>& whole, const std::vector<float>& bias,
                                   double share) {
  std::vector<float> first = whole, second = whole;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto part = static_cast<float>(share * std::cos(0.3 * static_cast<double>(i)));
    const float added = bias[i % bias.size()];
    first[i] = part + added;
    second[i] = whole[i] - part;  // its own bias is in it
  }
  const ArraySource a = ArraySource::of(whole), b = ArraySource::of(first),
                    c = ArraySource::of(second);
  const Tensor reference = tensor_of(a, DType::f32, {kRows, kColumns});
  Tensor terms = tensor_of(b, DType::f32, {kRows, kColumns});
  terms.terms = {terms.pieces, tensor_of(c, DType::f32, {kRows, kColumns}).pieces};
  terms.pieces.clear();
  terms.term_replicas.resize(2);
  compare::Pair pair;
  pair.reference = &reference;
  pair.candidate = &terms;
  return best_reduction(pair, "tp", kAllowed);
}

TEST_CASE("TT102: parts add up, also where each rank added a bias of its own") {
  const auto plain = reduced(output(0), {0}, 0.5);
  REQUIRE(plain);
  CHECK(plain->hypothesis.residual < kAllowed);
  CHECK(plain->words == "each rank holds a part of it: the sum over tp is the reference");
  const auto biased = reduced(output(0), {0.5F, -1, 2, 0, 0.25F, 3}, 0.5);
  REQUIRE(biased);
  CHECK(biased->code == Code::partial_sum);
  CHECK(biased->hypothesis.residual < kAllowed);
  CHECK(biased->words.find("plus one vector along the last dimension") != std::string::npos);
}

TEST_CASE("what changes from row to row is no bias") {
  const auto other = reduced(output(0), output(5), 0.5);
  REQUIRE(other);
  CHECK(other->hypothesis.residual > 0.1);
}

TEST_CASE("rows that are all alike are fitted by any vector and tell nothing") {
  const auto same =
      reduced({std::vector<float>(kRows * kColumns, 1)}, {0.5F, -1, 2, 0, 0.25F, 3}, 0.5);
  REQUIRE(same);
  CHECK(same->hypothesis.residual > 0.1);
}

}  // namespace
}  // namespace ttcheck::explain
