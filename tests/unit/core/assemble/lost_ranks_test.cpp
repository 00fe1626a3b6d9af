// SPDX-License-Identifier: Apache-2.0
// Two sides of which ranks were lost: which records are still compared, and which ranks are named.

#include "core/assemble/lost_ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/record_of.hpp"

namespace ttcheck::assemble {
namespace {

using Ranks = std::vector<std::int32_t>;

/// A record `w0` of rank 0 is undeclared, `w0!` is declared, `w0(3)` has three elements and not
/// two.
State state_of(const std::string& words) {
  State state;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    const auto open = word.find('(');
    const std::int64_t length = open == std::string::npos ? 2 : word[open + 1] - '0';
    state.records.push_back(tests::undeclared_record(word.substr(0, 1), {length}, word[1] - '0'));
    state.records.back().undeclared = word.find('!') == std::string::npos;
  }
  return state;
}

/// What is there, those that are left out of the comparison marked with `-`.
std::string told(const State& state) {
  std::string words;
  for (const Record& record : state.records) {
    if (!words.empty()) words += ' ';
    words += record.identity.name + std::to_string(record.piece.rank);
    if (record.placement && record.placement->rep_any) words += '-';
  }
  return words;
}

struct Side {
  std::string records;
  std::int64_t least = 0;  ///< State::least_ranks
  Ranks missing = {}, unreadable = {}, damaged = {};

  State made() const {
    State state = state_of(records);
    state.least_ranks = least;
    state.missing_ranks = missing;
    for (const std::int32_t rank : unreadable) state.unreadable_ranks.emplace(rank, Error("torn"));
    state.damaged_ranks.insert(damaged.begin(), damaged.end());
    return state;
  }
};

struct Row {
  std::string what;
  Side a, b;
  std::string left, right;  ///< what is there then
  std::int64_t met = 0, left_out = 0;
  Ranks missing_a = {}, missing_b = {};  ///< State::missing_ranks then
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const bool swapped : {false, true}) {
      INFO(row.what, ", swapped: ", swapped);
      State a = row.a.made();
      State b = row.b.made();
      const Lost lost = swapped ? meet_lost_ranks(b, a) : meet_lost_ranks(a, b);
      CHECK(told(a) == row.left);
      CHECK(told(b) == row.right);
      CHECK(lost.met == row.met);
      CHECK(lost.left_out == row.left_out);
      CHECK(a.missing_ranks == row.missing_a);
      CHECK(b.missing_ranks == row.missing_b);
    }
  }
}

TEST_CASE("sides of the same ranks") {
  check({
      {"nothing", {""}, {""}, "", ""},
      {"nothing lost", {"w0 w1"}, {"w0 w1"}, "w0 w1", "w0 w1"},
      {"all declared", {"w0! w1!"}, {"w0!", 2}, "w0 w1", "w0"},
  });
}

TEST_CASE("what one side lost is taken out of the other") {
  check({
      {"a missing rank", {"w0 w1"}, {"w0", 0, {1}}, "w0", "w0", 1, 0, {}, {1}},
      {"an unreadable rank", {"w0 w1"}, {"w0", 0, {}, {1}}, "w0", "w0", 1},
      {"a damaged rank", {"w0 w1 v1"}, {"w0 v1", 0, {}, {}, {1}}, "w0 v1", "w0 v1", 1},
      {"a damaged rank that has it", {"w0 w1"}, {"w0 w1", 0, {}, {}, {1}}, "w0 w1", "w0 w1"},
      {"two tensors", {"w0 w1 v0 v1"}, {"w0 v0", 0, {1}}, "w0 v0", "w0 v0", 2, 0, {}, {1}},
      {"a tensor of that rank alone", {"w0 v1"}, {"w0", 0, {1}}, "w0 v1-", "w0", 1, 0, {}, {1}},
      {"what is declared stays",
       {"w0 w1 v0! v1!"},
       {"w0 v0!", 0, {1}},
       "w0 v0 v1",
       "w0 v0",
       1,
       0,
       {},
       {1}},
      {"each lost one", {"w0 w1", 0, {2}}, {"w1 w2", 0, {0}}, "w1", "w1", 2, 0, {2}, {0}},
  });
}

TEST_CASE("a side without a rank that the other has did have it") {
  check({
      {"as what both have is the same", {"w0 w1"}, {"w0"}, "w0", "w0", 1, 0, {}, {1}},
      {"of two tensors one is there", {"w0 w1 v0"}, {"w0 v0"}, "w0 v0", "w0 v0", 1, 0, {}, {1}},
      {"two of three", {"w0 w1 w2"}, {"w1"}, "w1", "w1", 1, 0, {}, {0, 2}},
      {"but not of another shape", {"w0 w1"}, {"w0(3)"}, "w0 w1", "w0"},
      {"nor one of two of another shape", {"w0 w1 v0 v1"}, {"w0 v0(3)"}, "w0 w1 v0 v1", "w0 v0"},
      {"nor without one in common", {"w0 w1"}, {"v0"}, "w0 w1", "v0"},
      {"nor of other ranks", {"w0 w1 w2"}, {"w0 w3"}, "w0 w1 w2", "w0 w3"},
      {"nor when it lost another", {"w0 w1 w2"}, {"w0", 0, {1}}, "w0 w1 w2", "w0", 0, 0, {}, {1}},
      {"nor when there were more than the other has",
       {"w0 w1"},
       {"w0", 3},
       "w0 w1",
       "w0-",
       0,
       1,
       {},
       {1, 2}},
      {"but when there were as many", {"w0 w1"}, {"w0", 2}, "w0", "w0", 1, 0, {}, {1}},
      {"ranks with nothing in common but one",
       {"w0 w1 v1"},
       {"w0 v0!"},
       "w0 v1-",
       "w0 v0",
       2,
       0,
       {},
       {1}},
  });
}

TEST_CASE("a side that has lost ranks is not compared with one of other ranks") {
  check({
      {"of more ranks", {"w0 w1 w2 w3"}, {"w0 w5", 3}, "w0 w1 w2 w3", "w0- w5-", 0, 1, {}, {1, 2}},
      {"but with those of the ranks that it has left",
       {"w0"},
       {"w0 v0 v1", 4},
       "w0",
       "w0 v0",
       1,
       0,
       {1}},
      {"of two tensors", {"w7"}, {"w0 v0(3) v1", 4}, "w7", "w0- v0- v1-", 0, 2, {}, {2, 3}},
      {"declared ones are", {"w7"}, {"w0 v0! w2", 4}, "w7", "w0- v0 w2-", 0, 1, {}, {1, 3}},
      {"named already", {"w0 w1"}, {"w0 w3", 5, {4}}, "w0 w1", "w0- w3-", 0, 1, {}, {4}},
      {"both of as many", {"w0 w2", 4}, {"w0 w2", 4}, "w0 w2", "w0 w2"},
      {"both of other numbers",
       {"w0 w2", 3},
       {"w0 w2", 4},
       "w0- w2-",
       "w0- w2-",
       0,
       2,
       {1},
       {1, 3}},
      {"one of a known number", {"w0 w2"}, {"w0 w2", 4}, "w0 w2", "w0- w2-", 0, 1, {}, {1, 3}},
      {"both of a number that is there", {"w0 w1", 2}, {"w0 w1"}, "w0 w1", "w0 w1"},
      {"nothing undeclared on the side that lost", {"w0 w1"}, {"v0!", 3}, "w0 w1", "v0"},
  });
}

TEST_CASE("no more missing ranks are named than are listed") {
  const auto named = [](std::int64_t least, std::int32_t ranks) {
    State a = state_of("w0 v0");
    State b = state_of("w0");
    for (std::int32_t rank = 1; rank < ranks; ++rank) {
      a.records.push_back(tests::undeclared_record("w", {2}, rank));
    }
    b.least_ranks = least;
    meet_lost_ranks(a, b);
    return b.missing_ranks.size();
  };
  constexpr std::int32_t kMost = kMaxRanksListed;
  CHECK(named(0, kMost + 1) == kMaxRanksListed);
  CHECK(named(0, kMost + 2) == kMaxRanksListed);
  CHECK(named(0, kMost) == kMaxRanksListed - 1);
  CHECK(named(kMost, 1) == kMaxRanksListed - 1);
  CHECK(named(kMost + 9, 1) == kMaxRanksListed);
}

}  // namespace
}  // namespace ttcheck::assemble
