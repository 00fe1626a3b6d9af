// SPDX-License-Identifier: Apache-2.0
// What each coordinate holds, by hand from the words of man/ttcheck-layout.5.

#include "core/assemble/cut.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace ttcheck::assemble {
namespace {

using tests::error_of;
using List = std::vector<Range>;

constexpr std::int64_t kMost = INT64_MAX;
constexpr std::int64_t kHalf = std::int64_t{1} << 62;

ShardSpec spec_of(const std::string& mod) {
  const std::string line = mod.empty() ? "x[tp]" : "x[tp:" + mod + "]";
  return parse_dims(line).dims.front().shards.front();
}

TEST_CASE("what a coordinate holds of a dimension") {
  struct Row {
    std::string mod;
    std::int64_t length, n, r;
    List held;
  };
  const std::vector<Row> rows = {
      {"", 6, 1, 0, {{0, 6}}},
      {"", 7, 3, 0, {{0, 3}}},
      {"", 7, 3, 1, {{3, 6}}},
      {"", 7, 3, 2, {{6, 7}}},  // the rest
      {"", 4, 3, 1, {{2, 4}}},
      {"", 4, 3, 2, {}},  // the two before it have all
      {"", 2, 5, 1, {{1, 2}}},
      {"", 2, 5, 4, {}},
      {"", 0, 2, 0, {}},
      {"", kMost, 2, 0, {{0, kHalf}}},
      {"", kMost, 2, 1, {{kHalf, kMost}}},
      {"", kMost, kMost - 1, kHalf - 1, {{kMost - 1, kMost}}},
      {"", kMost, kMost - 1, kMost - 2, {}},  // 2 (n - 1) is no number any more
      {"even", 6, 3, 2, {{4, 6}}},
      {"sizes=3/0/4", 7, 3, 0, {{0, 3}}},
      {"sizes=3/0/4", 7, 3, 1, {}},
      {"sizes=3/0/4", 7, 3, 2, {{3, 7}}},
      {"zigzag", 8, 2, 0, {{0, 2}, {6, 8}}},
      {"zigzag", 8, 2, 1, {{2, 6}}},  // chunks 1 and 2
      {"zigzag", 7, 2, 0, {{0, 2}, {6, 7}}},
      {"zigzag", 5, 2, 0, {{0, 2}}},  // chunk 3 of two each is empty
      {"zigzag", 5, 2, 1, {{2, 5}}},
      {"zigzag", 12, 3, 1, {{2, 4}, {8, 10}}},
      {"zigzag", 4, 1, 0, {{0, 4}}},
      {"stride=2", 8, 2, 0, {{0, 2}, {4, 6}}},
      {"stride=2", 8, 2, 1, {{2, 4}, {6, 8}}},
      {"stride=2", 7, 2, 0, {{0, 2}, {4, 6}}},
      {"stride=2", 7, 2, 1, {{2, 4}, {6, 7}}},
      {"stride=3", 2, 2, 0, {{0, 2}}},
      {"stride=3", 2, 2, 1, {}},
      {"stride=9223372036854775807", 3, 1, 0, {{0, 3}}},
      {"interleave=2", 7, 2, 0, {{0, 2}, {4, 6}}},
      {"interleave=2", 7, 2, 1, {{2, 4}, {6, 7}}},
      {"interleave=2", 8, 2, 1, {{2, 4}, {6, 8}}},
      {"interleave=3", 9, 2, 0, {{0, 3}, {6, 9}}},
      {"interleave=2", 0, 2, 0, {}},
      {"interleave=1", kHalf, 1, 0, {{0, kHalf}}},  // of one, without walking the blocks
      {"interleave=1", 3, kMost, 1, {{1, 2}}},
      {"interleave=1", 3, kMost, 3, {}},
      {"interleave=4611686018427387904", kMost, 2, 0, {{0, kHalf}}},
      {"interleave=4611686018427387904", kMost, 2, 1, {{kHalf, kMost}}},
  };
  for (const Row& row : rows) {
    INFO(row.mod, " ", row.length, " over ", row.n, " at ", row.r);
    CHECK(cut({{0, row.length}}, spec_of(row.mod), row.n, row.r) == row.held);
  }
}

TEST_CASE("cuts that cannot be made") {
  struct Row {
    ShardSpec spec;
    std::int64_t length, n;
    std::string message;
  };
  ShardSpec long_sizes;
  long_sizes.sizes = {kMost, 1};
  const std::vector<Row> rows = {
      {spec_of("even"), 7, 3, "even: 7 does not divide by 3"},
      {spec_of("sizes=3/4"), 7, 3, "sizes=3/4 has 2 numbers, the axis has 3"},
      {spec_of("sizes=3/1"), 5, 2, "sizes=3/1 add up to 4, the dimension has 5"},
      {spec_of("sizes=3/3"), 5, 2, "sizes=3/3 add up to 6, the dimension has 5"},
      {long_sizes, 5, 2, "sum overflows"},
      {spec_of("zigzag"), 5, kHalf, "product overflows"},
      {spec_of("stride=262145"), kHalf, 2, "stride=262145 cuts into more than 262144 ranges"},
      {spec_of("interleave=1"), 2 * 262145 - 1, 2, "a piece is cut into more than 262144 ranges"},
  };
  for (const Row& row : rows) {
    INFO(row.message);
    CHECK(error_of([&] { cut({{0, row.length}}, row.spec, row.n, 0); }) == row.message);
  }
  CHECK(cut({{0, 2 * 262144}}, spec_of("stride=262144"), 2, 1).size() == kMaxRanges);
  CHECK(cut({{0, 2 * 262144}}, spec_of("interleave=1"), 2, 1).size() == kMaxRanges);
}

TEST_CASE("what was cut is cut again by its positions") {
  const List outer = {{10, 13}, {20, 24}};
  CHECK(cut(outer, spec_of(""), 2, 0) == List{{10, 13}, {20, 21}});
  CHECK(cut(outer, spec_of(""), 2, 1) == List{{21, 24}});
  CHECK(cut(outer, spec_of("zigzag"), 2, 0) == List{{10, 12}, {23, 24}});
  CHECK(error_of([&] { cut(outer, spec_of("even"), 2, 0); }) == "even: 7 does not divide by 2");
}

TEST_CASE("elements at positions of a list") {
  const List list = {{10, 12}, {20, 25}};
  struct Row {
    List at, chosen;
  };
  const std::vector<Row> rows = {
      {{}, {}},
      {{{0, 7}}, {{10, 12}, {20, 25}}},
      {{{0, 2}}, {{10, 12}}},
      {{{2, 4}}, {{20, 22}}},
      {{{1, 3}, {4, 5}, {6, 9}}, {{11, 12}, {20, 21}, {22, 23}, {24, 25}}},
      {{{0, 1}, {1, 2}}, {{10, 12}}},
      {{{3, 3}, {5, 6}}, {{23, 24}}},
      {{{7, 9}}, {}},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row ", i);
    CHECK(select(list, rows[i].at) == rows[i].chosen);
  }
  CHECK(select({}, {{0, 1}}).empty());
}

TEST_CASE("ranges are appended and counted") {
  struct Row {
    List before;
    Range next;
    List after;
    std::int64_t total;
  };
  const std::vector<Row> rows = {
      {{}, {2, 5}, {{2, 5}}, 3},
      {{}, {2, 2}, {}, 0},
      {{{0, 1}}, {5, 2}, {{0, 1}}, 1},
      {{{0, 1}}, {1, 4}, {{0, 4}}, 4},
      {{{0, 1}}, {1, 1}, {{0, 1}}, 1},
      {{{0, 1}}, {2, 4}, {{0, 1}, {2, 4}}, 3},
      {{{3, 5}}, {0, 1}, {{3, 5}, {0, 1}}, 3},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("row ", i);
    List list = rows[i].before;
    append(list, rows[i].next);
    CHECK(list == rows[i].after);
    CHECK(total(list) == rows[i].total);
  }
  CHECK(error_of([] { (void)total({{0, kMost}, {0, 1}}); }) == "sum overflows");
}

TEST_CASE("a full list takes what continues it and nothing else") {
  List list(kMaxRanges, Range{0, 1});
  append(list, {1, 3});
  CHECK(list.size() == kMaxRanges);
  CHECK(list.back() == Range{0, 3});
  append(list, {5, 5});
  CHECK(error_of([&] { append(list, {4, 5}); }) == "a piece is cut into more than 262144 ranges");
  list.pop_back();
  append(list, {4, 5});
  CHECK(list.size() == kMaxRanges);
}

}  // namespace
}  // namespace ttcheck::assemble
