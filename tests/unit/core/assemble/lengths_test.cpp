// SPDX-License-Identifier: Apache-2.0
// What a dimension of which ranks hold some lengths is taken to be.

#include "core/assemble/lengths.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/plan_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;

constexpr std::int64_t kMost = INT64_MAX;
const std::optional<std::int64_t> kOpen;

/// What is settled of a dimension.
struct Settled {
  std::int64_t length = 0, stored = 0, least = 0;
  std::vector<std::int64_t> parts = {};
  std::map<Extents, Range> joined = {};

  bool operator==(const Settled&) const = default;
};

/// Of `line`, which has one dimension, over tp of `tp`, cp of 2 and mb of 3.
Settled settle(const std::string& line, std::int64_t tp, const Lengths& lengths,
               const Stated& stated) {
  const std::vector<AxisUse> axes = {{"mb", 3}, {"tp", tp}, {"cp", 2}};
  DimPlan dim;
  dim.shards = tests::shards_of(parse_dims(line).dims.front().shards, axes);
  settle_length(dim, axes, lengths, stated);
  return {dim.length, dim.stored, dim.least, dim.parts, dim.joined};
}

struct Row {
  std::string what;
  std::string line;
  std::int64_t tp;
  Lengths lengths;
  Stated stated;
  Settled settled;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(row.what);
    const Settled settled = settle(row.line, row.tp, row.lengths, row.stated);
    CHECK(settled.length == row.settled.length);
    CHECK(settled.stored == row.settled.stored);
    CHECK(settled.least == row.settled.least);
    CHECK(settled.parts == row.settled.parts);
    CHECK(settled.joined == row.settled.joined);
  }
}

TEST_CASE("lengths of which every rank's is there") {
  check({
      {"not cut", "x", 2, {{{}, 5}}, {}, {5, 5, 5}},
      {"nothing", "x", 2, {{{}, 0}}, {}, {0, 0, 0}},
      {"even", "x[tp]", 2, {{{0}, 4}, {{1}, 4}}, {}, {8, 8, 8}},
      {"the last is shorter", "x[tp]", 3, {{{0}, 3}, {{1}, 3}, {{2}, 1}}, {}, {7, 7, 7}},
      {"by no rule", "x[tp]", 2, {{{0}, 3}, {{1}, 5}}, {}, {8, 8, 8}},
      {"over two axes",
       "x[cp,tp]",
       2,
       {{{0, 0}, 2}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}},
       {},
       {5, 5, 5}},
      {"equal parts",
       "(a|b)[tp]",
       2,
       {{{0}, 4}, {{1}, 2}},
       {{}, {}, {kOpen, kOpen}},
       {6, 6, 6, {3, 3}}},
      {"a sized part before the rest",
       "x[tp]",
       2,
       {{{0}, 5}, {{1}, 5}},
       {{}, {}, {4, kOpen, kOpen}},
       {10, 10, 10, {4, 3, 3}}},
  });
}

TEST_CASE("lengths that are written down, and the padding that shows beside them") {
  check({
      {"as held", "x[tp]", 2, {{{0}, 4}, {{1}, 4}}, {8, {}, {}}, {8, 8, 8}},
      {"held with padding", "x[tp]", 2, {{{0}, 4}, {{1}, 4}}, {7, {}, {}}, {7, 8, 7}},
      {"held short", "x[tp]", 2, {{{0}, 4}, {{1}, 3}}, {9, {}, {}}, {9, 9, 9}},
      {"a rank missing, the rest as written",
       "x[tp]",
       3,
       {{{0}, 3}, {{2}, 1}},
       {7, {}, {}},
       {7, 7, 7}},
      {"a rank missing, the rest with padding",
       "x[tp]",
       3,
       {{{0}, 3}, {{2}, 3}},
       {7, {}, {}},
       {7, 9, 7}},
      {"aligned", "x[tp]", 2, {{{0}, 4}, {{1}, 4}}, {5, 8, {}}, {5, 8, 5}},
      {"aligned beyond what is held", "x[tp]", 2, {{{0}, 3}, {{1}, 2}}, {5, 4, {}}, {5, 8, 5}},
      {"aligned as it is", "x[tp]", 2, {{{0}, 4}, {{1}, 4}}, {8, 4, {}}, {8, 8, 8}},
      {"aligned, a rank missing", "x[tp]", 2, {{{0}, 3}}, {5, 8, {}}, {5, 8, 5}},
      {"sizes say it", "x[tp:sizes=3/5]", 2, {{{0}, 3}, {{1}, 5}}, {}, {8, 8, 8}},
      {"sizes say it, a rank missing", "x[tp:sizes=3/5]", 2, {{{1}, 5}}, {}, {8, 8, 8}},
      {"sizes of each part",
       "(a|b)[tp:sizes=1/2]",
       2,
       {{{0}, 2}, {{1}, 4}},
       {{}, {}, {kOpen, kOpen}},
       {6, 6, 6, {3, 3}}},
      {"sizes beside a written length pad nothing",
       "x[tp:sizes=3/5]",
       2,
       {{{0}, 4}, {{1}, 6}},
       {8, {}, {}},
       {8, 8, 8}},
      {"sizes of the second axis say nothing",
       "x[cp,tp:sizes=1/3]",
       2,
       {{{0, 0}, 1}, {{0, 1}, 3}, {{1, 0}, 1}, {{1, 1}, 3}},
       {},
       {8, 8, 8}},
      {"all parts sized", "x[tp]", 2, {{{0}, 3}}, {{}, {}, {4, 2}}, {6, 6, 6, {4, 2}}},
      {"all parts sized, held with padding",
       "x[tp]",
       2,
       {{{0}, 4}},
       {{}, {}, {4, 1}},
       {5, 5, 5, {4, 1}}},
      {"parts of a written length, padded",
       "x[tp]",
       2,
       {{{0}, 4}, {{1}, 4}},
       {6, {}, {kOpen, 2}},
       {6, 8, 6, {4, 2}}},
  });
}

TEST_CASE("lengths that missing ranks leave open are the longest that fit") {
  check({
      {"even as far as is seen", "x[tp]", 4, {{{0}, 3}, {{1}, 3}}, {}, {12, 12, 6}},
      {"the last is there", "x[tp]", 4, {{{0}, 8}, {{3}, 7}}, {}, {31, 31, 31}},
      {"the last is there and full", "x[tp]", 4, {{{0}, 8}, {{3}, 8}}, {}, {32, 32, 32}},
      {"the last is there and empty", "x[tp]", 4, {{{0}, 3}, {{3}, 0}}, {}, {9, 9, 9}},
      {"over two axes", "x[cp,tp]", 2, {{{0, 0}, 2}, {{1, 1}, 1}}, {}, {7, 7, 3}},
      {"only nothing is there", "x[tp]", 4, {{{3}, 0}}, {}, {0, 0, 0}},
      {"one of one missing everything", "x[tp]", 2, {}, {}, {0, 0, 0}},
      {"parts", "x[tp]", 2, {{{0}, 4}}, {{}, {}, {kOpen, kOpen}}, {8, 8, 4, {4, 4}}},
      {"fits nothing", "x[tp]", 3, {{{0}, 2}, {{1}, 5}}, {}, {15, 15, 15}},
  });
}

TEST_CASE("no more than 256 lengths are tried") {
  // The last of n has one index, the first 256 or 257: that many less one short of n full ones.
  const auto length = [](std::int64_t first, std::int64_t last) {
    return settle("x[tp]", 300, {{{0}, first}, {{299}, last}}, {}).length;
  };
  CHECK(length(256, 1) == 300 * 256 - 255);
  CHECK(length(257, 1) == 300 * 257);  // what would fit is the 257th
  CHECK(length(257, 2) == 300 * 257 - 255);
}

TEST_CASE("pieces of the batch by no rule are joined in order, each as long as it is") {
  const std::map<Extents, Range> three = {{{0}, {0, 3}}, {{1}, {3, 4}}, {{2}, {4, 6}}};
  check({
      {"by the rule", "x[mb]", 2, {{{0}, 2}, {{1}, 2}, {{2}, 1}}, {}, {5, 5, 5}},
      {"by none", "x[mb]", 2, {{{0}, 3}, {{1}, 1}, {{2}, 2}}, {}, {6, 6, 6, {}, three}},
      {"one missing",
       "x[mb]",
       2,
       {{{0}, 3}, {{2}, 5}},
       {},
       {8, 8, 8, {}, {{{0}, {0, 3}}, {{2}, {3, 8}}}}},
      {"aligned", "x[mb]", 2, {{{0}, 3}, {{1}, 1}, {{2}, 2}}, {{}, 4, {}}, {6, 8, 6, {}, three}},
      {"within another axis",
       "x[tp,mb]",
       2,
       {{{0, 0}, 3}, {{0, 2}, 2}, {{1, 1}, 5}, {{1, 2}, 0}},
       {},
       {10,
        10,
        10,
        {},
        {{{0}, {0, 5}},
         {{0, 0}, {0, 3}},
         {{0, 2}, {3, 5}},
         {{1}, {5, 10}},
         {{1, 1}, {0, 5}},
         {{1, 2}, {5, 5}}}}},
      {"outside of one",
       "x[mb,tp]",
       2,
       {{{0, 0}, 2}, {{0, 1}, 1}, {{1, 1}, 4}},
       {},
       {7,
        7,
        7,
        {},
        {{{0}, {0, 3}}, {{0, 0}, {0, 2}}, {{0, 1}, {2, 3}}, {{1}, {3, 7}}, {{1, 1}, {0, 4}}}}},
      {"outside of one that is cut in a stated way",
       "x[mb,cp:zigzag]",
       2,
       {{{0, 0}, 2}, {{0, 1}, 2}, {{1, 0}, 4}, {{1, 1}, 4}, {{2, 0}, 6}, {{2, 1}, 6}},
       {},
       {24, 24, 24, {}, {{{0}, {0, 4}}, {{1}, {4, 12}}, {{2}, {12, 24}}}}},
      {"not the batch", "x[tp]", 3, {{{0}, 3}, {{1}, 1}, {{2}, 2}}, {}, {6, 6, 6}},
      {"with a mod of its own", "x[mb:zigzag]", 2, {{{0}, 3}, {{1}, 1}, {{2}, 2}}, {}, {6, 6, 6}},
      {"of parts",
       "(a|b)[mb]",
       2,
       {{{0}, 3}, {{1}, 1}, {{2}, 2}},
       {{}, {}, {kOpen, kOpen}},
       {6, 6, 6, {3, 3}}},
  });
}

TEST_CASE("lengths that nothing fits") {
  struct Refused {
    std::string what;
    Lengths lengths;
    Stated stated;
    std::string message;
  };
  const std::vector<Refused> rows = {
      {"more in the parts than there is",
       {{{0}, 3}, {{1}, 3}},
       {6, {}, {4, 3}},
       "the parts do not fill the dimension: 6 for 7 in 2 parts"},
      {"less in the parts than there is",
       {{{0}, 3}, {{1}, 3}},
       {6, {}, {4, 1}},
       "the parts do not fill the dimension: 6 for 5 in 2 parts"},
      {"an odd rest for two",
       {{{0}, 3}, {{1}, 2}},
       {{}, {}, {kOpen, kOpen}},
       "the parts do not fill the dimension: 5 for 0 in 2 parts"},
      {"less than nothing for the rest",
       {{{0}, 1}, {{1}, 1}},
       {{}, {}, {kOpen, 3}},
       "the parts do not fill the dimension: 2 for 3 in 2 parts"},
      {"nothing for the rest", {{{0}, 2}, {{1}, 1}}, {{}, {}, {kOpen, 3}}, ""},
      {"held beyond all numbers", {{{0}, kMost}, {{1}, 1}}, {}, "sum overflows"},
      {"missing beyond all numbers", {{{0}, kMost}}, {}, "product overflows"},
      {"aligned beyond all numbers", {{{0}, 1}, {{1}, 1}}, {kMost, 2, {}}, "product overflows"},
      {"parts beyond all numbers", {{{0}, 1}, {{1}, 1}}, {{}, {}, {kMost, 1}}, "sum overflows"},
  };
  for (const Refused& row : rows) {
    INFO(row.what);
    CHECK(error_of([&] { settle("x[tp]", 2, row.lengths, row.stated); }) == row.message);
  }
  CHECK(error_of([] { settle("x[tp:even]", 2, {{{0}, 4}, {{1}, 3}}, {}); }).empty());
}

}  // namespace
}  // namespace ttcheck::assemble
