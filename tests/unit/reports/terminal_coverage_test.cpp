// SPDX-License-Identifier: Apache-2.0
// What was compared and what was not, and how names met.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr int kWide = 240;  // no line is broken

/// Two pairs, equal bit for bit.
Verdict compared() {
  Verdict verdict;
  verdict.coverage.paired = 2;
  verdict.coverage.bytes_compared = 8;
  verdict.coverage.bytes_read = 2048;
  verdict.tally.outcomes[0] = 2;
  return verdict;
}

const std::string kHeading = "\nWhat was compared\n";
const std::string kCompared = "  compared   2 pairs of tensors, 8 B: 2 equal bit for bit\n";
const std::string kLeft = "  left over  nothing on either side\n";
const std::string kBytes = "  bytes      2 KiB read\n";

const std::string kNoise =
    "  compared   2 pairs of tensors, 8 B: 1 equal bit for bit, 1 within the limit\n";

/// One of the pairs was held to a limit.
void limits(Verdict& verdict, std::map<std::string, std::int64_t> sources) {
  verdict.tally.outcomes = {1, 1, 0, 0};
  verdict.tally.limits = std::move(sources);
}

struct Told {
  std::string what;
  std::function<void(Verdict&)> change;
  std::string text;
};

void check(const std::vector<Told>& rows) {
  for (const Told& row : rows) {
    INFO(row.what);
    Verdict verdict = compared();
    row.change(verdict);
    CHECK(coverage_section(verdict, {.width = kWide}) == kHeading + row.text);
  }
}

TEST_CASE("how many pairs were compared, and what became of them") {
  check({
      {"two pairs", [](Verdict&) {}, kCompared + kLeft + kBytes},
      {"none",
       [](Verdict& verdict) {
         verdict.coverage = {};
         verdict.tally = {};
       },
       "  compared   0 pairs of tensors, 0 B: none\n" + kLeft + "  bytes      0 B read\n"},
      {"one",
       [](Verdict& verdict) {
         verdict.coverage.paired = 1;
         verdict.tally.outcomes[0] = 1;
       },
       "  compared   1 pair of tensors, 8 B: 1 equal bit for bit\n" + kLeft + kBytes},
      {"of a step", [](Verdict& verdict) { verdict.tally.steps = {7}; },
       "  compared   2 pairs of tensors, 8 B, step 7: 2 equal bit for bit\n" + kLeft + kBytes},
      {"of two steps", [](Verdict& verdict) { verdict.tally.steps = {9, 7}; },
       "  compared   2 pairs of tensors, 8 B, steps 7,9: 2 equal bit for bit\n" + kLeft + kBytes},
      {"all after a cast", [](Verdict& verdict) { verdict.tally.casts = {{"wide\n", 2}}; },
       "  compared   2 pairs of tensors, 8 B: 2 equal after a cast (wide\\n 2)\n" + kLeft + kBytes},
      {"of every outcome",
       [](Verdict& verdict) {
         verdict.coverage.paired = 3004;
         verdict.tally.outcomes = {3001, 1, 1, 1};
         verdict.tally.casts = {{"widening", 1000}, {"rounding", 2000}};
       },
       "  compared   3,004 pairs of tensors, 8 B: 1 equal bit for bit, 3,000 equal after a cast "
       "(rounding 2,000, widening 1,000), 1 within the limit, 1 beyond it, 1 not comparable\n" +
           kLeft + kBytes},
  });
}

TEST_CASE("what was left over, left out or lost") {
  check({
      {"of one side or unreadable",
       [](Verdict& verdict) {
         verdict.coverage.only_reference = 1;
         verdict.coverage.only_candidate = 1200;
         verdict.coverage.unreadable = 2;
         verdict.coverage.steps_only_reference = {3, 5};
         verdict.coverage.steps_only_candidate = {6, 7, 8};
       },
       kCompared +
           "  left over  1 only in the reference; 1,200 only in the candidate; 2 could not be "
           "read; "
           "steps only in the reference: 3,5; steps only in the candidate: 6-8\n" +
           kBytes},
      {"a step of one side", [](Verdict& verdict) { verdict.coverage.steps_only_candidate = {6}; },
       kCompared + "  left over  step only in the candidate: 6\n" + kBytes},
      {"one excluded",
       [](Verdict& verdict) {
         verdict.coverage.excluded = 1;
         verdict.coverage.excluded_by = {{"--exclude a\x1b[A", 1}};
       },
       kCompared + kLeft + "  excluded   1 by --exclude a\\x1b[A\n" + kBytes},
      {"many excluded",
       [](Verdict& verdict) {
         verdict.coverage.excluded = 1201;
         verdict.coverage.excluded_by = {{"b", 1200}, {"a", 1}};
       },
       kCompared + kLeft + "  excluded   1,200 by b; 1 by a\n" + kBytes},
      {"NaN in one pair", [](Verdict& verdict) { verdict.tally.with_nan = 1; },
       kCompared + kLeft + "  NaN        1 pair, at the same places on both sides\n" + kBytes},
      {"NaN in both", [](Verdict& verdict) { verdict.tally.with_nan = 2; },
       kCompared + kLeft + "  NaN        2 pairs, at the same places on both sides\n" + kBytes},
      {"bytes of nothing", [](Verdict& verdict) { verdict.coverage.bytes_unclaimed = 1; },
       kCompared + kLeft + "  bytes      2 KiB read; 1 B of the files belong to nothing\n"},
  });
}

TEST_CASE("four sources of limits are named, the others counted") {
  check({
      {"all equal", [](Verdict& verdict) { verdict.tally.limits = {{"a", 2}}; },
       kCompared + kLeft + kBytes},
      {"one", [](Verdict& verdict) { limits(verdict, {{"a\n", 1}}); },
       kNoise + kLeft + "  limits     a\\n (1 pair)\n" + kBytes},
      {"four",
       [](Verdict& verdict) { limits(verdict, {{"d", 1}, {"c", 2}, {"b", 3}, {"a", 4000}}); },
       kNoise + kLeft + "  limits     a (4,000 pairs); b (3 pairs); c (2 pairs); d (1 pair)\n" +
           kBytes},
      {"six",
       [](Verdict& verdict) {
         limits(verdict, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}});
       },
       kNoise + kLeft +
           "  limits     a (1 pair); b (1 pair); c (1 pair); d (1 pair); and 2 more\n" + kBytes},
  });
}

TEST_CASE("the section keeps to the width, and its heading is bold in colour") {
  CHECK(coverage_section(compared(), {.color = true, .width = 40}) ==
        "\n\x1b[1mWhat was compared\x1b[0m\n"
        "  compared   2 pairs of tensors, 8 B: 2\n"
        "             equal bit for bit\n" +
            kLeft + kBytes);
}

TEST_CASE("how names met, where somebody asks for it") {
  Verdict verdict;
  verdict.tally.rules = {{"same", 1200}, {"drop\n", 1}};
  verdict.renames = {{"m.a\n", "a", "drop-root m"}, {"b", "model.b\x1b", "map: \x1b"}};
  CHECK(map_section(verdict, {}).empty());
  const std::string rules =
      "  1          by drop\\n\n"
      "  1,200      by same: the same name, slot, phase and micro-batch on both sides\n";
  const std::string table =
      "\n"
      "  reference  candidate    by\n"
      "  m.a\\n      a            drop-root m\n"
      "  b          model.b\\x1b  map: \\x1b\n";
  CHECK(map_section(verdict, {.show_map = true}) == "\nHow names met\n" + rules + table);
  CHECK(map_section(verdict, {.color = true, .show_map = true}) ==
        "\n\x1b[1mHow names met\x1b[0m\n" + rules + table);
  verdict.renames.clear();
  CHECK(map_section(verdict, {.show_map = true}) == "\nHow names met\n" + rules);
  verdict.tally.rules.clear();
  CHECK(map_section(verdict, {.show_map = true}) == "\nHow names met\n");
}

}  // namespace
}  // namespace ttcheck::reports
