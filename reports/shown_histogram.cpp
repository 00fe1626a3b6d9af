// SPDX-License-Identifier: Apache-2.0
#include "reports/shown_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/columns.hpp"
#include "reports/heat.hpp"
#include "reports/paint.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostRows = 16;
constexpr std::size_t kBar = 40;

struct Row {
  std::string from, to;
  std::int64_t count = 0;
};

std::string edge(int exponent, bool negative) {
  return fmt::format("{}2^{}", negative ? "-" : "", exponent);
}

/// First and last bin with something in it, of both signs; end before begin where there is none.
std::pair<std::size_t, std::size_t> occupied(const PowerHistogram& histogram) {
  std::size_t first = histogram.bins.size();
  std::size_t end = 0;
  for (const auto* bins : {&histogram.bins, &histogram.negative_bins}) {
    for (std::size_t i = 0; i < bins->size(); ++i) {
      if ((*bins)[i] == 0) continue;
      first = std::min(first, i);
      end = std::max(end, i + 1);
    }
  }
  return {first, end};
}

/// Rows of one sign from small to large, `step` bins each.
std::vector<Row> rows_of(const PowerHistogram& histogram, bool negative, std::size_t step) {
  const auto& bins = negative ? histogram.negative_bins : histogram.bins;
  const auto [first, end] = occupied(histogram);
  std::vector<Row> rows;
  if (bins.empty()) return rows;
  for (std::size_t at = first; at < end; at += step) {
    const std::size_t to = std::min(at + step, end);
    Row row;
    const int low = histogram.lowest + static_cast<int>(at);
    const int high = histogram.lowest + static_cast<int>(to);
    row.from = at == 0 ? "0" : edge(low, negative);
    row.to = to == bins.size() ? (negative ? "-inf" : "inf") : edge(high, negative);
    row.count = std::accumulate(bins.begin() + static_cast<std::ptrdiff_t>(at),
                                bins.begin() + static_cast<std::ptrdiff_t>(to), std::int64_t{0});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string histogram_section(const Profile& profile, const ReportOptions& options) {
  const PowerHistogram& histogram = profile.histogram;
  const auto [first, end] = occupied(histogram);
  if (end <= first) return "";
  const bool signs = std::ranges::any_of(histogram.negative_bins, [](auto n) { return n > 0; });
  const std::size_t room = signs ? kMostRows / 2 : kMostRows;
  const std::size_t step = (end - first + room - 1) / room;
  std::vector<Row> rows;
  if (signs) {
    rows = rows_of(histogram, true, step);
    std::ranges::reverse(rows);
    for (Row& row : rows) std::swap(row.from, row.to);
  }
  if (histogram.zeros > 0) rows.push_back({profile.pair ? "equal" : "0", "", histogram.zeros});
  const std::vector<Row> positive = rows_of(histogram, false, step);
  rows.insert(rows.end(), positive.begin(), positive.end());
  if (histogram.non_finite > 0) rows.push_back({"not finite", "", histogram.non_finite});
  std::int64_t largest = 0;
  for (const Row& row : rows) largest = std::max(largest, row.count);

  std::string title = "Values";
  if (profile.pair) {
    title = histogram.unit == 1
                ? "|b-a|"
                : fmt::format("|b-a| over the reference's rms {}", short_number(histogram.unit));
  } else if (histogram.negative_bins.empty()) {
    title = "Absolute values";
  }
  Columns columns("rlrl");
  columns.add({"", title, "elements", ""});
  for (const Row& row : rows) {
    columns.add(
        {row.from, row.to.empty() ? "" : "to " + row.to, thousands(row.count),
         bar(static_cast<double>(row.count), static_cast<double>(largest), kBar, options.unicode)});
  }
  const std::string text = columns.text(2);
  const std::size_t heading = text.find('\n');
  return "\n" + Paint(options.color).bold(title) + text.substr(heading);
}

}  // namespace ttcheck::reports
