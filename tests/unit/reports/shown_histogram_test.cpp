// SPDX-License-Identifier: Apache-2.0
#include "reports/shown_histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

using Counts = std::vector<std::int64_t>;

/// Lines with their blanks joined, so that a row is its cells; bars are left out.
std::string cells(const std::string& text) {
  std::istringstream in(text);
  std::string all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string joined;
    for (std::string word; words >> word;) {
      if (word.find('#') == std::string::npos) joined += (joined.empty() ? "" : " ") + word;
    }
    if (!joined.empty()) all += joined + "\n";
  }
  return all;
}

TEST_CASE("a row for each power of two between the ends that occur") {
  struct Row {
    std::string what;
    bool pair;
    PowerHistogram histogram;
    std::string text;
  };
  const std::vector<Row> rows = {
      {"nothing", false, {-2, 1, 5, 5, {0, 0}, {0, 0}}, ""},
      {"no bins", false, {-2, 1, 5, 5, {}, {}}, ""},
      {"values",
       false,
       {-2, 1, 0, 0, {0, 3, 0, 1000, 0}, {0, 0, 0, 0, 0}},
       "Values\n2^-1 to 2^0 3\n2^0 to 2^1 0\n2^1 to 2^2 1,000\n"},
      {"the ends take what is beyond",
       false,
       {-2, 1, 0, 0, {1, 2}, {0, 0}},
       "Values\n0 to 2^-1 1\n2^-1 to inf 2\n"},
      {"both signs, zeros between, and what is no number behind",
       false,
       {0, 1, 7, 9, {0, 2, 0}, {0, 0, 3}},
       "Values\n-inf to -2^2 3\n-2^2 to -2^1 0\n0 7\n2^1 to 2^2 2\n2^2 to inf 0\n"
       "not finite 9\n"},
      {"of no sign", false, {0, 1, 0, 0, {1}, {}}, "Absolute values\n0 to inf 1\n"},
      {"a pair", true, {0, 1, 4, 0, {0, 1, 0}, {}}, "|b-a|\nequal 4\n2^1 to 2^2 1\n"},
      {"a pair over its rms",
       true,
       {0, 0.25, 0, 0, {0, 1, 0}, {}},
       "|b-a| over the reference's rms 0.25\n2^1 to 2^2 1\n"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Profile profile;
    profile.pair = row.pair;
    profile.histogram = row.histogram;
    CHECK(cells(histogram_section(profile, {})) == row.text);
  }
}

TEST_CASE("no more than sixteen rows, eight of each sign") {
  struct Row {
    std::size_t bins;
    bool signs;
    std::string first, second;
    std::int64_t rows;
  };
  const std::vector<Row> rows = {
      {16, false, "2^1 to 2^2 1", "2^2 to 2^3 1", 16},
      {17, false, "2^1 to 2^3 2", "2^3 to 2^5 2", 9},
      {33, false, "2^1 to 2^4 3", "2^4 to 2^7 3", 11},
      {8, true, "-2^9 to -2^8 1", "-2^8 to -2^7 1", 16},
      {9, true, "-2^10 to -2^9 1", "-2^9 to -2^7 2", 10},
  };
  for (const Row& row : rows) {
    INFO(row.bins, " bins, both signs: ", row.signs);
    Profile profile;
    profile.histogram.bins.assign(row.bins + 2, 1);
    profile.histogram.bins.front() = profile.histogram.bins.back() = 0;
    profile.histogram.negative_bins = row.signs ? profile.histogram.bins : Counts(row.bins + 2, 0);
    const std::string text = cells(histogram_section(profile, {}));
    CHECK(text.starts_with("Values\n" + row.first + "\n" + row.second + "\n"));
    CHECK(std::ranges::count(text, '\n') == row.rows + 1);
  }
}

TEST_CASE("bars are of the fullest row, forty columns long; the heading may be bold") {
  Profile profile;
  profile.histogram.bins = {0, 4, 1, 0};
  profile.histogram.zeros = 8;
  const std::string text = histogram_section(profile, {});
  const auto bar_of = [&](const std::string& row) {
    const std::size_t at = text.find(row) + row.size();
    const std::string line = text.substr(at, text.find('\n', at) - at);
    return std::ranges::count(line, '#');
  };
  CHECK(bar_of("\n    0") == 40);
  CHECK(bar_of("to 2^2") == 20);
  CHECK(bar_of("to 2^3") == 5);
  CHECK(text.starts_with("\nAbsolute values"));
  CHECK(histogram_section(profile, {.color = true}).starts_with("\n\x1b[1mAbsolute values\x1b[0m"));
  CHECK(histogram_section(profile, {.unicode = true}).find("█") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::reports
