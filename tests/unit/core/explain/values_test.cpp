// SPDX-License-Identifier: Apache-2.0
#include "core/explain/values.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

using tests::PairBeyond;

TEST_CASE("elements of one tensor, from where they are asked for") {
  PairBeyond pair({2, 3}, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}, 0, DType::bf16, DType::bf16);
  std::vector<double> read(3);
  read_values(pair.reference, nullptr, 2, read);
  CHECK(read == std::vector<double>{3, 4, 5});
  const ValueMap map{3, 2, 1};
  read_values(pair.reference, &map, 3, read);
  CHECK(read == std::vector<double>{7, 8.5, 10});
}

TEST_CASE("a pair is visited in order, range by range, as far as it is asked for") {
  struct Row {
    std::int64_t count;
    std::vector<std::int64_t> begins;
  };
  constexpr std::int64_t kAll = 140000;
  std::vector<double> a, b;
  for (std::int64_t i = 0; i < kAll; ++i) {
    a.push_back(static_cast<double>(i));
    b.push_back(static_cast<double>(-i));
  }
  const PairBeyond pair({kAll}, a, b);
  const Row rows[] = {
      {0, {}}, {5, {0}}, {65536, {0}}, {65537, {0, 65536}}, {kAll, {0, 65536, 131072}}};
  for (const Row& row : rows) {
    CAPTURE(row.count);
    std::vector<std::int64_t> begins;
    std::vector<double> left, right;
    visit_pair(pair.subject.pair, row.count,
               [&](std::int64_t begin, std::span<const double> x, std::span<const double> y) {
                 begins.push_back(begin);
                 left.insert(left.end(), x.begin(), x.end());
                 right.insert(right.end(), y.begin(), y.end());
               });
    CHECK(begins == row.begins);
    CHECK((left == std::vector<double>(a.begin(), a.begin() + row.count)));
    CHECK((right == std::vector<double>(b.begin(), b.begin() + row.count)));
  }
}

TEST_CASE("holes of either side are zero on both, maps go before") {
  constexpr std::int64_t kCount = 65540;  // holes in the second range, too
  PairBeyond pair({kCount}, std::vector<double>(kCount, 1), std::vector<double>(kCount, 2));
  pair.reference.holes = {{{1}, {2}}};
  pair.candidate.holes = {{{65535}, {3}}};
  const ValueMap add{1, 1, 4}, twice{2, 1, 0};
  pair.subject.pair.reference_map = &add;
  pair.subject.pair.candidate_map = &twice;
  std::vector<double> a, b;
  visit_pair(pair.subject.pair, kCount,
             [&](std::int64_t, std::span<const double> x, std::span<const double> y) {
               a.insert(a.end(), x.begin(), x.end());
               b.insert(b.end(), y.begin(), y.end());
             });
  for (const auto& [side, value] : {std::pair{&a, 5.0}, {&b, 4.0}}) {
    std::vector<double> expected(kCount, value);
    for (const std::size_t hole : {1U, 2U, 65535U, 65536U, 65537U}) expected[hole] = 0;
    CHECK((*side == expected));
  }
}

}  // namespace
}  // namespace ttcheck::explain
