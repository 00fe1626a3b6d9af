// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/search.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::bisect {
namespace {

/// g, b and s: what each place is; upper case: looked at.
struct Row {
  std::string places;
  Bisection found;

  explicit Row(std::string all, const std::map<std::size_t, Mark>& known = {}, bool may_heal = true,
               std::optional<std::size_t> likely = {})
      : places(std::move(all)) {
    const auto look = [&](std::size_t i, Interval left) {
      CHECK(left.from <= i);
      CHECK(i < left.to);
      const char place = places[i];
      CHECK(place >= 'a');  // never twice
      places[i] = static_cast<char>(place - 'a' + 'A');
      return place == 'b' ? Mark::bad : place == 's' ? Mark::skip : Mark::good;
    };
    found = search(places.size(), known, look, may_heal, likely);
  }
};

TEST_CASE("the boundary is found wherever it is, in 3 + log2 looks") {
  for (const std::size_t count : {1U, 2U, 3U, 7U, 64U}) {
    for (std::size_t first = 0; first < count; ++first) {
      const Row row(std::string(first, 'g') + std::string(count - first, 'b'));
      CHECK(row.found.first_bad == first);
      CHECK(row.found.last_good == (first == 0 ? std::nullopt : std::optional(first - 1)));
      std::size_t most = 3;
      for (std::size_t n = count; n > 1; n = (n + 1) / 2) ++most;
      CHECK(row.found.log.size() <= most);
    }
  }
}

TEST_CASE("a good end is looked at alone") {
  const Row row("ggggbbgg");
  CHECK(row.places == "ggggbbgG");
  CHECK_FALSE(row.found.first_bad);
  CHECK(row.found.last_good == 7);
}

TEST_CASE("nothing to look at, or nothing that can be told") {
  CHECK_FALSE(Row("").found.first_bad);
  const Row row("sss");
  CHECK_FALSE(row.found.first_bad);
  CHECK_FALSE(row.found.last_good);
  CHECK(row.found.unknown == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("skipped places between good and bad are named") {
  const Row row("ggssbb");
  CHECK(row.found.first_bad == 4);
  CHECK(row.found.last_good == 1);
  CHECK(row.found.unknown == std::vector<std::size_t>{2, 3});
}

TEST_CASE("a bad place right before the last good one is found") {
  const Row row("gggbgbbb");
  CHECK(row.found.first_bad == 3);
  CHECK(row.found.last_good == 2);
}

TEST_CASE("what cannot heal is sought nowhere before a good place") {
  const Row row("ggggggbb", {}, false);
  CHECK(row.places == "gggGgGBB");
  CHECK(row.found.first_bad == 6);
}

TEST_CASE("a bad first place right before the only good one is found") {
  const Row row("bgb");
  CHECK(row.found.first_bad == 0);
  CHECK_FALSE(row.found.last_good);
}

TEST_CASE("skipped places that are not between good and bad are not named") {
  CHECK(Row("gggbsb", {{4, Mark::skip}}).found.unknown.empty());
  CHECK(Row("sgbb", {{0, Mark::skip}}).found.unknown.empty());
  CHECK(Row("ssbb").found.unknown == std::vector<std::size_t>{0, 1});
}

TEST_CASE("what is known is not looked at") {
  const Row first("ggggbbbb");
  const Row row("ggggbbbb", {first.found.log.begin(), first.found.log.end()});
  CHECK(row.found.first_bad == 4);
  CHECK(row.found.log.empty());
}

TEST_CASE("a known bad place counts though what is behind it is good") {
  const Row row("gggbgggg", {{3, Mark::bad}});
  CHECK(row.found.first_bad == 3);
  CHECK(row.found.last_good == 2);
}

TEST_CASE("a place that is likely bad is looked at first, and is all where it is the first") {
  CHECK(Row("gggggbbb", {}, false, 5).places == "ggggGBbb");
  CHECK(Row("gggggbbb", {}, true, 5).places == "gggGGBbb");
  CHECK(Row("bbbb", {}, true, 0).places == "Bbbb");
  CHECK(Row("ggbbgggg", {}, true, 2).found.first_bad == 2);  // though it healed
}

TEST_CASE("a likely place that is not the first bad one costs its look") {
  const Row good("gggggbbb", {}, false, 2);
  CHECK(good.places == "ggGgGBbB");
  CHECK(good.found.first_bad == 5);
  const Row late("gbbbbbbb", {}, false, 5);
  CHECK(late.found.first_bad == 1);
  CHECK(late.found.last_good == 0);
  CHECK(Row("ggsbb", {}, false, 2).found.first_bad == 3);
}

TEST_CASE("a search goes on from the known places that are nearest") {
  const Row between("ggggggbbbb", {{2, Mark::good}, {6, Mark::bad}, {9, Mark::bad}}, false);
  CHECK(between.places == "ggggGGbbbb");
  CHECK(between.found.first_bad == 6);
}

TEST_CASE("what is known good is not halved") {
  const Row row("gggggggb", {{4, Mark::good}}, false);
  CHECK(row.places == "ggggggGB");
  CHECK(row.found.first_bad == 7);
}

TEST_CASE("marks have git's words") {
  for (const Mark mark : {Mark::good, Mark::bad, Mark::skip}) CHECK(mark_named(name(mark)) == mark);
  CHECK_FALSE(mark_named("old"));
}

}  // namespace
}  // namespace ttcheck::bisect
