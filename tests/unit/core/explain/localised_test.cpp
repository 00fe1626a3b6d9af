// SPDX-License-Identifier: Apache-2.0
#include "core/explain/localised.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

using Indices = std::vector<std::int64_t>;

/// One place that a row's error is confined to.
struct Place {
  std::string axis;
  Indices range;
  std::string words;
  double penalty = 6;
  Code code = Code::localised;
};

struct Row {
  const char* what;
  Shape shape;
  Indices wrong;  ///< linear indices; 1 becomes 2 there
  std::vector<Place> places;
  std::string name = "w";
  Numbers numbers = {};
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const std::vector<double> a(static_cast<std::size_t>(element_count(row.shape)), 1);
    std::vector<double> b = a;
    for (const std::int64_t at : row.wrong) b[static_cast<std::size_t>(at)] = 2;
    tests::PairBeyond pair(row.shape, a, b);
    pair.result.identity.name = row.name;
    pair.numbers = row.numbers;
    const auto found = localised(pair.subject, pair.seen());
    REQUIRE(found.size() == row.places.size());
    for (std::size_t n = 0; n < found.size(); ++n) {
      const Place& place = row.places[n];
      CHECK(found[n].code == place.code);
      CHECK(found[n].hypothesis.name == "localised");
      CHECK(tests::parameter_of<std::string>(found[n], "axis") == place.axis);
      CHECK(tests::parameter_of<Indices>(found[n], "range") == place.range);
      CHECK(found[n].words == "only " + place.words);
      CHECK(found[n].penalty == doctest::Approx(place.penalty).epsilon(1e-12));
      CHECK(found[n].hypothesis.residual == 0);
    }
  }
}

Indices from_to(std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  Indices all;
  for (std::int64_t i = begin; i < end; i += step) all.push_back(i);
  return all;
}

const std::string kBeyond = " off";

TEST_CASE("one element, a run, a block") {
  const auto run = [](Indices range, const std::string& words) {
    return Place{"flat", std::move(range), "the run of elements " + words + " is" + kBeyond, 6,
                 Code::chunk};
  };
  Indices some = from_to(2, 12);
  some.erase(some.begin() + 4);
  check({
      {"nothing", {20}, {}, {}},
      {"one element",
       {4, 4},
       {6},
       {{"element", {1, 2}, "element [1, 2] is" + kBeyond},
        {"dim0", {1, 1}, "rows 1 is" + kBeyond, 10 / 0.75}}},
      {"one that is all", {1}, {0}, {}},
      {"one of two",
       {2},
       {1},
       {{"element", {1}, "element [1] is" + kBeyond},
        {"dim0", {1, 1}, "indices of dimension 0 1 is" + kBeyond, 20}}},
      {"four in a row",
       {20},
       {3, 4, 5, 6},
       {run({3, 6}, "3 to 6 of one row"),
        {"dim0", {3, 6}, "indices of dimension 0 3-6 are" + kBeyond, 12.5}}},
      {"three are no run",
       {20},
       {3, 4, 5},
       {{"dim0", {3, 5}, "indices of dimension 0 3-5 are" + kBeyond, 10 / 0.85}}},
      {"nine of ten filled",
       {40},
       some,
       {run({2, 11}, "2 to 11 of one row"),
        {"dim0",
         {2, 5, 7, 11},
         "indices of dimension 0 2-5, 7-11 are" + kBeyond,
         10 / (1 - 9.0 / 40)}}},
      {"eight of nine",
       {40},
       {2, 3, 4, 5, 7, 8, 9, 10},
       {{"dim0", {2, 5, 7, 10}, "indices of dimension 0 2-5, 7-10 are" + kBeyond, 12.5}}},
      {"half of all",
       {8},
       {2, 3, 4, 5},
       {run({2, 5}, "2 to 5 of one row"),
        {"dim0", {2, 5}, "indices of dimension 0 2-5 are" + kBeyond, 20}}},
      {"more than half",
       {9},
       {2, 3, 4, 5, 6},
       {{"dim0", {2, 6}, "indices of dimension 0 2-6 are" + kBeyond, 22.5}}},
      {"over the end of a row",
       {4, 6},
       {3, 4, 5, 6, 7},
       {run({3, 7}, "3 to 7"), {"dim0", {0, 1}, "rows 0-1 are" + kBeyond, 20}}},
      {"from the start of a row",
       {4, 6},
       from_to(6, 11),
       {run({6, 10}, "6 to 10 of one row"), {"dim0", {1, 1}, "rows 1 is" + kBeyond, 10 / 0.75}}},
      {"to the end of a row",
       {4, 6},
       from_to(7, 12),
       {run({7, 11}, "7 to 11 of one row"), {"dim0", {1, 1}, "rows 1 is" + kBeyond, 10 / 0.75}}},
      {"a part of one column is no block",
       {10, 8},
       from_to(11, 40, 8),
       {{"dim1", {3, 3}, "columns 3 is" + kBeyond, 10 / 0.875}}},
      {"whole rows are rows",
       {4, 6},
       from_to(6, 12),
       {{"dim0", {1, 1}, "rows 1 is" + kBeyond, 10 / 0.75}}},
      {"a block",
       {6, 6},
       {7, 8, 13, 14},
       {{"block", {1, 2, 1, 2}, "the block [1-2, 1-2] is" + kBeyond, 6, Code::tile},
        {"dim0", {1, 2}, "rows 1-2 are" + kBeyond, 15}}},
      {"half of it filled",
       {6, 8},
       {8, 11, 18, 25},  // rows 1-3, columns 0-3: 4 of 12
       {{"dim0", {1, 3}, "rows 1-3 are" + kBeyond, 20}}},
      {"just half",
       {6, 8},
       {8, 10, 11, 16, 17, 18},  // rows 1-2, columns 0-3: 6 of 8
       {{"block", {1, 2, 0, 3}, "the block [1-2, 0-3] is" + kBeyond, 6, Code::tile},
        {"dim0", {1, 2}, "rows 1-2 are" + kBeyond, 15}}},
      {"four of eight",
       {6, 8},
       {8, 11, 17, 18},
       {{"block", {1, 2, 0, 3}, "the block [1-2, 0-3] is" + kBeyond, 6, Code::tile},
        {"dim0", {1, 2}, "rows 1-2 are" + kBeyond, 15}}},
      {"more than half of the columns",
       {6, 6},
       {7, 8, 9, 10, 13, 14, 15, 16},
       {{"dim0", {1, 2}, "rows 1-2 are" + kBeyond, 15}}},
      {"of three dims, in one slice",
       {3, 4, 4},
       {16 + 5, 16 + 6, 16 + 9, 16 + 10},
       {{"block", {1, 1, 1, 2, 1, 2}, "the block [1-1, 1-2, 1-2] is" + kBeyond, 6, Code::tile},
        {"dim0", {1, 1}, "indices of dimension 0 1 is" + kBeyond, 15}}},
      {"rows of three dims, if less than half",
       {3, 4, 4},
       {20, 21, 22},
       {{"rows",
         {5, 5},
         "rows, all dimensions but the last counted as one, 5 is" + kBeyond,
         10 / (1 - 1.0 / 12)}}},
      {"rows, where all dims have some",
       {2, 2, 2},
       {0, 3, 4},
       {{"rows",
         {0, 2},
         "rows, all dimensions but the last counted as one, 0-2 are" + kBeyond,
         40}}},
      {"all", {4, 4}, from_to(0, 16), {}},
  });
}

TEST_CASE("a run of zeros is told") {
  const std::vector<double> a(20, 1);
  for (const double last : {0.0, 0.5}) {
    std::vector<double> b = a;
    for (const std::size_t at : {3U, 4U, 5U}) b[at] = 0;
    b[6] = last;
    tests::PairBeyond pair({20}, a, b);
    CHECK(localised(pair.subject, pair.seen())[0].words.ends_with(", and it is all zeros") ==
          (last == 0));
  }
}

/// So many ranges of one index, 0, 2, 4..
Indices every_other(std::int64_t count) {
  Indices ranges;
  for (std::int64_t i = 0; i < count; ++i) ranges.insert(ranges.end(), {2 * i, 2 * i});
  return ranges;
}

/// Those below `end` that are no multiples of `n`.
Indices all_but(std::int64_t end, std::int64_t n) {
  Indices all;
  for (std::int64_t i = 0; i < end; ++i) {
    if (i % n != 0) all.push_back(i);
  }
  return all;
}

TEST_CASE("the smallest part along one dimension") {
  check({
      {"columns",
       {4, 10},
       from_to(3, 40, 10),
       {{"dim1", {3, 3}, "columns 3 is" + kBeyond, 10 / 0.9}}},
      {"the first of two that are as small",
       {4, 4},
       {5, 10, 5},
       {{"dim0", {1, 2}, "rows 1-2 are" + kBeyond, 20}}},
      {"nine of ten",
       {10},
       {0, 1, 2, 3, 5, 6, 7, 8, 9},
       {{"dim0", {0, 3, 5, 9}, "indices of dimension 0 0-3, 5-9 are" + kBeyond, 100}}},
      {"ten of eleven are no part", {11}, {0, 1, 2, 3, 5, 6, 7, 8, 9, 10}, {}},
      {"four ranges are said",
       {200},
       {0, 2, 4, 6},
       {{"dim0",
         {0, 0, 2, 2, 4, 4, 6, 6},
         "indices of dimension 0 0, 2, 4, 6 are" + kBeyond,
         10 / (1 - 4.0 / 200)}}},
      {"32 ranges are listed, and of more than four the first said",
       {200},
       from_to(0, 64, 2),
       {{"dim0", every_other(32), "32 of 200 indices of dimension 0 (0, 2, 4, 6, ..) are" + kBeyond,
         10 / (1 - 32.0 / 200)}}},
      {"of 33 the first 32",
       {200},
       from_to(0, 66, 2),
       {{"dim0", every_other(32), "33 of 200 indices of dimension 0 (0, 2, 4, 6, ..) are" + kBeyond,
         10 / (1 - 33.0 / 200)}}},
      {"most, here and there, are no part", {100}, all_but(100, 3), {}},
  });
}

TEST_CASE("parts of attention are heads, where they are known") {
  const Place rows{"dim0", {4, 7}, "rows 4-7 are" + kBeyond, 10 / 0.75};
  const auto heads = [](Indices range, const std::string& which, int of, double penalty) {
    return Place{"heads", std::move(range),
                 "heads (of " + std::to_string(of) + ", rows) " + which + kBeyond, penalty};
  };
  check({
      {"one head",
       {16, 2},
       from_to(8, 16),
       {heads({1, 1}, "1 is", 4, 10 / 0.75)},
       "attn.q",
       {{"heads", 4}}},
      {"not of attention", {16, 2}, from_to(8, 16), {rows}, "mlp.q", {{"heads", 4}}},
      {"heads that are not known", {16, 2}, from_to(8, 16), {rows}, "attn.q"},
      {"heads that do not divide", {16, 2}, from_to(8, 16), {rows}, "attn.q", {{"heads", 3}}},
      {"by three, and some of one",
       {16, 2},
       from_to(10, 20),
       {{"dim0", {5, 9}, "rows 5-9 are" + kBeyond, 10 / (1 - 5.0 / 16)}},
       "attn.q",
       {{"heads", 3}}},
      {"one head is all", {16, 2}, from_to(8, 16), {rows}, "attn.q", {{"heads", 1}}},
      {"no heads", {16, 2}, from_to(8, 16), {rows}, "attn.q", {{"heads", 0}}},
      {"one of two",
       {16, 2},
       from_to(16, 32),
       {heads({1, 1}, "1 is", 2, 20)},
       "attn.q",
       {{"heads", 2}}},
      {"heads, also where those of keys divide what is left",
       {16, 2},
       from_to(8, 16),
       {heads({1, 1}, "1 is", 4, 10 / 0.75)},
       "attn.q",
       {{"heads", 4}, {"kv_heads", 16}}},
      {"heads of keys",
       {16, 2},
       from_to(8, 16),
       {heads({2, 3}, "2-3 are", 8, 10 / 0.75)},
       "attn.q",
       {{"heads", 3}, {"kv_heads", 8}}},
      {"half of a head",
       {16, 2},
       from_to(8, 12),
       {heads({1, 1}, "1 is", 4, 10 / 0.875)},
       "attn.q",
       {{"heads", 4}}},
      {"less than half",
       {16, 2},
       {8, 9},
       {{"dim0", {4, 4}, "rows 4 is" + kBeyond, 10 / (1 - 1.0 / 16)}},
       "attn.q",
       {{"heads", 4}}},
      {"two of five rows",
       {20, 2},
       from_to(10, 14),
       {{"dim0", {5, 6}, "rows 5-6 are" + kBeyond, 10 / 0.9}},
       "attn.q",
       {{"heads", 4}}},
      {"most of each head",
       {8, 2},
       {0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13},
       {{"dim0", {0, 2, 4, 6}, "rows 0-2, 4-6 are" + kBeyond, 40}},
       "attn.q",
       {{"heads", 2}}},
      {"along the last of three dims",
       {2, 3, 8},
       [] {
         Indices all;
         for (std::int64_t i = 0; i < 48; i += 8) all.insert(all.end(), {i + 2, i + 3});
         return all;
       }(),
       {{"heads", {1, 1}, "heads (of 4, indices of dimension 2) 1 is" + kBeyond, 10 / 0.75}},
       "attn.q",
       {{"heads", 4}}},
      {"some of each head",
       {8, 2},
       {0, 1, 8, 9},
       {{"dim0", {0, 0, 4, 4}, "rows 0, 4 are" + kBeyond, 10 / 0.75}},
       "attn.q",
       {{"heads", 2}}},
      {"a dim of heads",
       {2, 3, 4, 2},
       [] {
         Indices all;
         for (const std::int64_t at : {8, 32})
           for (std::int64_t i = 0; i < 8; ++i) all.push_back(at + i);
         return all;
       }(),
       {{"heads", {1, 1}, "heads (of 3, indices of dimension 1) 1 is" + kBeyond, 15}},
       "attn.q",
       {{"heads", 3}}},
      {"as many as heads, of three dims",
       {3, 2, 2},
       from_to(4, 8),
       {{"dim0", {1, 1}, "indices of dimension 0 1 is" + kBeyond, 15}},
       "attn.q",
       {{"heads", 3}}},
      {"not as many, of four",
       {6, 2, 2, 2},
       from_to(16, 32),
       {{"dim0", {2, 3}, "indices of dimension 0 2-3 are" + kBeyond, 15}},
       "attn.q",
       {{"heads", 3}}},
      {"positions are no heads",
       {6, 2, 2},
       from_to(4, 8),
       {{"dim0", {1, 1}, "indices of dimension 0 1 is" + kBeyond, 12}},
       "attn.q",
       {{"heads", 3}}},
  });
}

TEST_CASE("ranks that are wrong, by their axis") {
  struct Ranked {
    const char* what;
    std::vector<std::int32_t> ranks, wrong;
    std::string axis;  ///< empty: not told
    Indices range = {};
    double penalty = 0;
    double a2 = 100;  ///< of what each holds
  };
  const Ranked rows[] = {
      {"one of four", {0, 1, 2, 3}, {2}, "rank", {2, 2}, 4 / 0.75},
      {"one coordinate of an axis", {0, 1, 2, 3}, {1, 3}, "tp", {1, 1}, 8},
      {"of small numbers", {0, 1, 2, 3}, {2}, "rank", {2, 2}, 4 / 0.75, 0.125},
      {"of zeros", {0, 1, 2, 3}, {2}, "", {}, 0, 0},
      {"all", {0, 1}, {0, 1}, ""},
      {"none", {0, 1}, {}, ""},
  };
  const std::vector<double> a(8, 1);
  std::vector<double> b = a;
  b[0] = 2;  // a slice and an element besides
  for (const Ranked& row : rows) {
    INFO(std::string(row.what));
    tests::PairBeyond pair({8}, a, b);
    pair.mesh.axes = {{"dp", 2}, {"tp", 2}};
    for (const std::int32_t rank : row.ranks) {
      RankError& one = pair.result.ranks.emplace_back();
      one.rank = rank;
      one.metrics.count = 100;
      one.metrics.sum_a2 = row.a2;
      one.metrics.sum_d2 = row.a2 / 100;
    }
    pair.result.ranks.push_back({9, {}});  // holds nothing
    pair.result.wrong_ranks = row.wrong;
    bool told = false;
    for (const Explanation& one : localised(pair.subject, pair.seen())) {
      if (!one.words.starts_with("only what")) continue;
      told = true;
      CHECK(tests::parameter_of<std::string>(one, "axis") == row.axis);
      CHECK(tests::parameter_of<Indices>(one, "range") == row.range);
      CHECK(one.penalty == doctest::Approx(row.penalty));
      // Each of those that are right is off by 1 of 100, of all that ranks hold.
      const auto right = static_cast<double>(row.ranks.size() - row.wrong.size());
      CHECK(one.hypothesis.residual ==
            doctest::Approx(std::sqrt(right / (100 * static_cast<double>(row.ranks.size())))));
      CHECK(one.words ==
            "only what " + row.axis + " " + std::to_string(row.range[0]) + " holds is off");
    }
    CHECK(told == !row.axis.empty());
  }
}

TEST_CASE("a run that is all that wrong ranks hold is theirs") {
  struct Filled {
    const char* what;
    std::int64_t count;  ///< that each of two ranks holds
    std::int64_t copies;
    bool run;
    std::size_t wrong = 9;
  };
  // Of a rank's ten nine are nine tenths.
  for (const Filled& row : {Filled{"its ten", 10, 1, false},
                            {"of its eleven some", 11, 1, true},
                            {"of its 19 all but two", 19, 1, true, 17},
                            {"of ten in two copies", 20, 2, false}}) {
    INFO(std::string(row.what));
    const std::vector<double> a(static_cast<std::size_t>(2 * row.count / row.copies), 1);
    std::vector<double> b = a;
    for (std::size_t i = 1; i <= row.wrong; ++i) b[i] = 2;
    tests::PairBeyond pair({std::ssize(a)}, a, b);
    for (const std::int32_t rank : {0, 1}) {
      RankError& one = pair.result.ranks.emplace_back();
      one.rank = rank;
      one.metrics.count = row.count;
      one.metrics.sum_a2 = 1;
    }
    pair.result.wrong_ranks = {0};
    bool run = false;
    for (const Explanation& one : localised(pair.subject, pair.seen())) {
      run = run || one.code == Code::chunk;
    }
    CHECK(run == row.run);
  }
}

TEST_CASE("what is left is what differs outside") {
  for (const double size : {1.0, 0x1p-4}) {
    std::vector<double> a(40, size), b = a;
    for (std::size_t i = 3; i < 40; i += 10) b[i] = 2 * size;
    b[0] += 0x1p-10 * size;
    tests::PairBeyond pair({4, 10}, a, b, 1e-3);
    const auto found = localised(pair.subject, pair.seen());
    REQUIRE(found.size() == 1);
    CHECK(found[0].hypothesis.residual == doctest::Approx(0x1p-10 / std::sqrt(40)));
  }
}

TEST_CASE("of zeros nothing is left") {
  std::vector<double> b(16);
  b[6] = 1;
  tests::PairBeyond pair({4, 4}, std::vector<double>(16), b);
  const auto found = localised(pair.subject, pair.seen());
  REQUIRE(found.size() == 2);
  for (const Explanation& one : found) CHECK(one.hypothesis.residual == 0);
}

}  // namespace
}  // namespace ttcheck::explain
