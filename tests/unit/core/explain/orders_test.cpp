// SPDX-License-Identifier: Apache-2.0
#include "core/explain/orders.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::explain {
namespace {

TEST_CASE("blocks are as long as all borders of runs allow") {
  struct Row {
    Order from;
    std::int64_t block;
    Order order;
  };
  const Row rows[] = {
      {{0, 1, 2, 3}, 4, {0}},
      {{2, 3, 0, 1}, 2, {1, 0}},
      {{1, 0, 2, 3}, 1, {1, 0, 2, 3}},
      {{3, 4, 5, 0, 1, 2}, 3, {1, 0}},
      {{0, 1, 4, 5, 2, 3}, 2, {0, 2, 1}},
      {{4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11}, 4, {1, 0, 2}},
      {{3, 0, 1, 2}, 1, {3, 0, 1, 2}},
      {{0}, 1, {0}},
      {{}, 1, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.from.size());
    CHECK(block_of(row.from) == row.block);
    CHECK(blocks_of(row.from, row.block) == row.order);
  }
}

TEST_CASE("rolls: by how many blocks") {
  struct Row {
    Order order;
    std::optional<std::int64_t> by;
  };
  const Row rows[] = {{{0, 1, 2}, 0},    {{1, 2, 0}, 1},  {{2, 0, 1}, 2},  {{1, 0}, 1},
                      {{1, 2, 3, 0}, 1}, {{1, 0, 2}, {}}, {{2, 1, 0}, {}}, {{1, 2, 0, 3}, {}}};
  for (const Row& row : rows) CHECK(roll_of(row.order) == row.by);
}

struct Told {
  const char* what;
  Order order;
  bool is;
};

void check(const std::vector<Told>& rows, bool (*is)(const Order&)) {
  for (const Told& row : rows) {
    INFO(std::string(row.what));
    CHECK(is(row.order) == row.is);
  }
}

TEST_CASE("transposes of r rows, or of r columns") {
  struct Row {
    const char* what;
    Order order;
    std::int64_t r;
    bool by, any;
  };
  const Row rows[] = {
      {"2 x 2", {0, 2, 1, 3}, 2, true, true},
      {"2 x 3", {0, 3, 1, 4, 2, 5}, 2, true, true},
      {"3 x 2, the inverse", {0, 2, 4, 1, 3, 5}, 2, true, true},
      {"the same by 3", {0, 2, 4, 1, 3, 5}, 3, true, true},
      {"not by 4", {0, 2, 4, 1, 3, 5}, 4, false, true},
      {"2 x 4 is none by 3", {0, 4, 1, 5, 2, 6, 3, 7}, 3, false, true},
      {"3 x 3 is none by 2", {0, 3, 6, 1, 4, 7, 2, 5, 8}, 2, false, true},
      {"one row moves nothing", {0, 1}, 2, false, false},
      {"nothing moved", {0, 1, 2, 3}, 2, false, false},
      {"of a prime number", {0, 2, 1}, 2, false, false},
      {"the last two are wrong", {0, 3, 1, 4, 5, 2}, 2, false, false},
      {"2 x 2 rolled", {2, 0, 3, 1}, 2, false, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(is_transpose_by(row.order, row.r) == row.by);
    CHECK(is_transpose_of_any(row.order) == row.any);
  }
}

TEST_CASE("queries, keys and values by group against one kind after the other") {
  check(
      {
          // Two groups q k v | q k v are 0 2 4 | 1 3 5 of q q k k v v.
          {"two groups of one query", {0, 2, 4, 1, 3, 5}, true},
          {"the other way", {0, 3, 1, 4, 2, 5}, true},
          // q q k v | q q k v are 0 1 4 6 | 2 3 5 7 of q q q q k k v v.
          {"two queries a group", {0, 1, 4, 6, 2, 3, 5, 7}, true},
          {"the other way", {0, 1, 4, 5, 2, 6, 3, 7}, true},
          {"three groups", {0, 3, 6, 1, 4, 7, 2, 5, 8}, true},
          {"keys and values changed places", {0, 4, 2, 1, 5, 3}, false},
          {"no queries", {0, 2, 1, 3}, false},
          {"one group", {0, 1, 2}, false},
          {"as they were", {0, 1, 2, 3, 4, 5}, false},
          {"one is out of place", {0, 1, 4, 6, 2, 3, 7, 5}, false},
      },
      is_grouped);
}

TEST_CASE("rotary parts: halves interleaved or swapped in each period") {
  struct Row {
    const char* what;
    Order order;
    std::int64_t period;
    bool known, unknown;  ///< whether heads are known to be that long
  };
  const Row rows[] = {
      {"pairs", {0, 2, 1, 3}, 4, true, true},
      {"six, to halves", {0, 2, 4, 1, 3, 5}, 6, true, true},
      {"six, to pairs", {0, 3, 1, 4, 2, 5}, 6, true, true},
      {"halves swapped", {2, 3, 0, 1}, 4, true, true},
      {"two heads", {0, 2, 1, 3, 4, 6, 5, 7}, 4, true, true},
      {"two heads, either way", {0, 2, 4, 1, 3, 5, 6, 9, 7, 10, 8, 11}, 6, true, true},
      {"one of two heads", {0, 1, 2, 3, 4, 6, 5, 7}, 4, true, true},
      {"two blocks swapped", {1, 0}, 2, true, false},
      {"blocks of two heads", {1, 0, 3, 2}, 2, true, false},
      {"a part at the start of each", {0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11}, 6, true, true},
      {"a part at the end of each", {0, 1, 2, 4, 3, 5, 6, 7, 8, 10, 9, 11}, 6, true, true},
      {"at the start of one alone", {0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 6, true, false},
      {"in the middle", {0, 1, 3, 2, 4, 5}, 6, false, false},
      {"swapped at the start", {2, 3, 0, 1, 4, 5, 8, 9, 6, 7, 10, 11}, 6, true, true},
      {"two swapped at the start", {1, 0, 2, 3, 5, 4, 6, 7}, 4, true, false},
      {"nothing moves", {0, 1, 2, 3}, 4, false, false},
      {"across heads", {0, 1, 4, 3, 2, 5, 6, 7}, 4, false, false},
      {"a period that does not divide", {0, 2, 1, 3, 4, 5}, 4, false, false},
      {"a period of one", {1, 0}, 1, false, false},
      {"rolled", {1, 2, 3, 0}, 4, false, false},
      {"an odd part", {1, 2, 0, 3}, 4, false, false},
      {"one head of two is wrong but for its ends", {0, 2, 1, 3, 5, 6, 4, 7}, 4, false, false},
      {"at the end of one alone", {0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11}, 6, true, false},
      {"no period", {1, 0}, 0, false, false},
      {"one head of two is wrong", {0, 2, 1, 3, 5, 6, 7, 4}, 4, false, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(is_rotary(row.order, row.period, true) == row.known);
    CHECK(is_rotary(row.order, row.period, false) == row.unknown);
  }
}

TEST_CASE("two parts of equal length: swapped, or side by side") {
  std::vector<std::int64_t> ranks, more;
  for (std::int64_t i = 0; i < 66; ++i) {
    // Of the first two ranks gate and up changed places.
    const std::int64_t other = i < 2 ? 1 - i : i;
    if (i < 64) ranks.push_back(other);
    more.push_back(other);
  }
  // More than 64 that all changed places: by pairs, or the halves.
  std::vector<std::int64_t> pairs, halves, fours;
  for (std::int64_t i = 0; i < 66; ++i) {
    pairs.push_back(i % 2 == 0 ? i + 1 : i - 1);
    halves.push_back((i + 33) % 66);
  }
  // g0 u0 g1 u1 .. of g0 g1 g2 g3 u0 u1 u2 u3 g4 .., of 66 + 6.
  for (std::int64_t i = 0; i < 72; ++i) {
    const std::int64_t place = i / 2, part = i % 2;
    fours.push_back(place / 4 * 8 + part * 4 + place % 4);
  }
  check(
      {
          {"swapped", {1, 0}, true},
          {"swapped by rank", {1, 0, 3, 2}, true},
          {"swapped as a whole", {2, 3, 0, 1}, true},
          {"two ranks against a whole", {0, 2, 1, 3}, true},
          {"and swapped", {2, 0, 3, 1}, true},
          {"and swapped, the other way", {1, 3, 0, 2}, true},
          {"three ranks", {0, 3, 1, 4, 2, 5}, true},
          {"three ranks, the other way", {0, 2, 4, 1, 3, 5}, true},
          // Runs of two: g0 g1 u0 u1 | g2 g3 u2 u3 of g0..g3 u0..u3.
          {"runs of two against a whole", {0, 1, 4, 5, 2, 3, 6, 7}, true},
          {"runs of two against row by row", {0, 2, 1, 3, 4, 6, 5, 7}, true},
          // Runs of two of three ranks: g0 g1 u0 u1 g2 .. of g0..g5 u0..u5.
          {"three runs of two", {0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}, true},
          {"three runs of two, the other way", {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}, true},
          {"on one rank alone", {0, 1, 3, 2}, true},
          {"on one rank of a whole", {0, 3, 2, 1}, true},
          {"of 64 parts", ranks, true},
          {"of more", more, false},
          {"all of them by pairs", pairs, true},
          {"all of them by halves", halves, true},
          {"row by row against runs of four", fours, true},
          {"an odd number", {1, 0, 2}, false},
          {"rolled", {1, 2, 3, 0}, false},
          {"places changed", {3, 0, 1, 2, 5, 4}, false},
      },
      is_two_parts);
}

TEST_CASE("each period rolled by the same number, or as it was") {
  struct Row {
    const char* what;
    Order order;
    std::int64_t period;
    bool is;
  };
  const Row rows[] = {
      {"by one", {1, 2, 0, 4, 5, 3}, 3, true},
      {"by two", {2, 0, 1, 5, 3, 4}, 3, true},
      {"one as it was", {0, 1, 2, 4, 5, 3}, 3, true},
      {"the first alone", {1, 2, 0, 3, 4, 5}, 3, true},
      {"by two numbers", {1, 2, 0, 5, 3, 4}, 3, false},
      {"none is", {0, 1, 2, 3}, 2, false},
      {"a period that does not divide", {1, 0, 2}, 2, false},
      {"a period of one", {1, 0}, 1, false},
      {"swapped ends", {2, 1, 0, 3, 4, 5}, 3, false},
      {"out of its period", {3, 4, 5, 0, 1, 2}, 3, false},
      {"of any length", {1, 2, 0, 4, 5, 3}, 0, true},
      {"two parts of two lengths", {3, 4, 0, 1, 2, 8, 9, 5, 6, 7}, 0, true},
      {"of any length, all of it", {1, 2, 0}, 0, true},
      {"of any length, the first as it was", {0, 1, 3, 2}, 0, false},
      {"of any length, the second as it was", {1, 0, 2, 3}, 0, false},
      {"of any length that does not divide", {1, 0, 2}, 0, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(is_roll_of_each(row.order, row.period) == row.is);
  }
}

TEST_CASE("two parts of any length, side by side or one kind after the other") {
  check(
      {
          // k k k v v | k k k v v of k k k k k k v v v v.
          {"three and two", {0, 1, 2, 5, 6, 7, 3, 4, 8, 9}, true},
          {"the other way", {0, 1, 2, 6, 7, 3, 4, 5, 8, 9}, true},
          {"one and one", {0, 2, 1, 3}, true},
          {"three periods", {0, 2, 4, 1, 3, 5}, true},
          {"the other way", {0, 3, 1, 4, 2, 5}, true},
          {"one and two", {0, 3, 1, 2, 4, 5}, true},
          {"nothing moves", {0, 1, 2, 3}, false},
          {"the first does", {1, 0, 2, 3}, false},
          {"the last two changed places", {0, 1, 2, 5, 6, 7, 3, 4, 9, 8}, false},
          {"a period that does not divide", {0, 3, 1, 2, 4}, false},
      },
      is_split);
}

TEST_CASE("zigzags, either way") {
  check(
      {
          {"of four", {0, 3, 1, 2}, true},
          {"of eight", {0, 7, 1, 6, 2, 5, 3, 4}, true},
          {"back", {0, 2, 4, 6, 7, 5, 3, 1}, true},
          {"of four, back", {0, 2, 3, 1}, true},
          {"of two", {0, 1}, false},
          {"of six with the end wrong", {0, 5, 1, 4, 3, 2}, false},
          {"an odd number", {0, 4, 1, 3, 2}, false},
          {"interleaved", {0, 4, 1, 5, 2, 6, 3, 7}, false},
          {"nothing", {}, false},
      },
      is_zigzag);
}

}  // namespace
}  // namespace ttcheck::explain
