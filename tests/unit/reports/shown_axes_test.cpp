// SPDX-License-Identifier: Apache-2.0
#include "reports/shown_axes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ttcheck::reports {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST_CASE("slices in words") {
  struct Row {
    std::string name;
    std::int64_t per_bin, first, last;
    std::string words;
  };
  const std::vector<Row> rows = {
      {"row", 1, 3, 3, "row 3"},
      {"row", 32, 96, 127, "rows 96-127"},
      {"column", 1, 0, 1, "columns 0-1"},
      {"position", 1, 0, 1, "positions 0-1"},
      {"expert", 1, 0, 1, "experts 0-1"},
      {"head", 1, 0, 1, "heads 0-1"},
      {"head", 64, 64, 127, "head 1"},  // one of 64 slices
      {"head", 64, 64, 255, "heads 1-3"},
      {"elements", 1, 4, 4, "element 4"},
      {"elements", 2, 4, 5, "elements 4-5"},
      {"dim 2", 1, 4, 5, "dim 2 4-5"},
      {"h\n", 1, 4, 4, "h\\n 4"},
  };
  for (const Row& row : rows) {
    INFO(row.words);
    AxisProfile axis;
    axis.name = row.name;
    axis.slices_per_bin = row.per_bin;
    CHECK(slice_words(axis, row.first, row.last) == row.words);
  }
}

TEST_CASE("shares in words: all of it is said of all alone") {
  struct Row {
    double share;
    std::string words;
  };
  const std::vector<Row> rows = {
      {0, "0%"},          {0.5, "50%"},        {0.12345, "12.3%"},  {0.999, "99.9%"},
      {0.99951, "99.9%"}, {1 - 1e-9, "99.9%"}, {1 - 1e-13, "100%"}, {1, "100%"},
      {kInfinite, "-"},   {std::nan(""), "-"}, {1e-6, "0.0001%"},
  };
  for (const Row& row : rows) {
    INFO(row.share);
    CHECK(percent_words(row.share) == row.words);
  }
}

TEST_CASE("boxes in words") {
  CHECK(box_words({{}, {}}) == "[]");
  CHECK(box_words({{4}, {0}}) == "[4:4]");
  CHECK(box_words({{0, 12}, {16, 12}}) == "[0:16, 12:24]");
}

TEST_CASE("the worst bins, and the largest that is a number") {
  struct Row {
    std::string what;
    std::vector<double> sizes;
    std::size_t most;
    std::vector<std::size_t> bins;
    double largest;
  };
  const std::vector<Row> rows = {
      {"none", {}, 3, {}, 0},
      {"no error", {0, 0}, 3, {}, 0},
      {"the worst first", {1, 3, 2}, 3, {1, 2, 0}, 3},
      {"two of three", {1, 3, 2}, 2, {1, 2}, 3},
      {"the first of equals", {2, 3, 2, 3}, 3, {1, 3, 0}, 3},
      {"infinite ones before all", {1, kInfinite, 4}, 3, {1, 2, 0}, 4},
      {"infinite alone", {kInfinite}, 3, {0}, 0},
      {"zeros are no error", {0, 1, 0}, 3, {1}, 1},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(worst_bins(row.sizes, row.most) == row.bins);
    CHECK(largest_finite(row.sizes) == row.largest);
  }
}

/// Four elements a bin, each of the size whose square is given.
Profile profile_of(const std::vector<double>& squares) {
  Profile profile;
  AxisProfile& axis = profile.axes.emplace_back();
  axis.name = "row";
  axis.slices_per_bin = 2;
  axis.extent = 2 * static_cast<std::int64_t>(squares.size()) - 1;  // the last bin has one slice
  for (const double square : squares) {
    Sums& bin = axis.bins.emplace_back();
    bin.count = 4;
    bin.a2 = 4 * square;
    bin.largest = square;
    profile.all.add(bin);
  }
  return profile;
}

TEST_CASE("the sizes of bins of one tensor are their rms") {
  const Profile profile = profile_of({1, 4, 0});
  CHECK(sizes_of(profile.axes[0].bins, profile) == std::vector<double>{1, 2, 0});
}

TEST_CASE("a strip for each axis, and its worst slices") {
  const std::string text = axes_section(profile_of({1, 4, 0, 16, 9}), {.width = 60});
  CHECK(text.starts_with("\nRms by axis\n"));
  // Of 4 a quarter is two steps below the largest, a half one, and three quarters none.
  CHECK(text.find("         row |#% @@| 9\n") != text.npos);
  const std::string table = text.substr(text.find("\n\n"));
  CHECK(table ==
        "\n\nLargest slices  rms  of it  max |a|\n"
        "rows 6-7          4  53.3%       16\n"
        "row 8             3    30%        9\n"
        "rows 2-3          2  13.3%        4\n");
}

TEST_CASE("an axis of heads is counted in heads, a long name is cut") {
  Profile profile = profile_of({1, 1});
  profile.axes[0].name = "head";
  profile.axes[0].extent = 4;
  CHECK(axes_section(profile, {}).find("        head |@@| 2\n") != std::string::npos);
  profile.axes[0].name = "a name of more than twelve";
  CHECK(axes_section(profile, {}).find("twelve |") == std::string::npos);
}

TEST_CASE("nothing is said without axes, or of a pair without a difference") {
  Profile profile = profile_of({1});
  profile.pair = true;
  CHECK(axes_section(profile, {}).empty());
  profile.all.unequal = 1;
  CHECK(axes_section(profile, {}).starts_with("\nError by axis\n"));
  profile.axes.clear();
  CHECK(axes_section(profile, {}).empty());
  profile.pair = false;
  CHECK(axes_section(profile, {}).empty());
}

TEST_CASE("of a pair the share of the squared difference, and how many differ") {
  Profile profile = profile_of({4, 4});
  profile.pair = true;
  profile.axes[0].bins[1].d2 = 1;  // against 16
  profile.axes[0].bins[1].unequal = 1234;
  profile.axes[0].bins[1].largest = 0.5;
  profile.all = {};
  for (const Sums& bin : profile.axes[0].bins) profile.all.add(bin);
  const std::string text = axes_section(profile, {});
  CHECK(
      text.ends_with("\n\nWorst slices  error  of it  max |b-a|  differ\n"
                     "row 2          0.25   100%        0.5   1,234\n"));
  const std::string painted = axes_section(profile, {.color = true});
  CHECK(painted.find("\n\x1b[1mError by axis\x1b[0m\n") == 0);
  CHECK(painted.find("\n\x1b[1mWorst slices") != painted.npos);
}

}  // namespace
}  // namespace ttcheck::reports
