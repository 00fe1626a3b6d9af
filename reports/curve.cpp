// SPDX-License-Identifier: Apache-2.0
#include "reports/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr int kMostRows = 10;
constexpr double kLowest = -4;  // decades below the limit that are told apart
constexpr std::size_t kMargin = 12;
constexpr std::size_t kFewestColumns = 20;

/// What one column shows.
struct Spot {
  char mark = ' ';
  int row = 0;  ///< steps above the limit
};

/// Heights: rows `lowest` to `highest`, `step` decades apart, the limit at row 0.
struct Scale {
  double step = 1;
  int lowest = 0, highest = 0;

  int row_of(double ratio) const {
    const double row = std::round(std::log10(ratio) / step);
    return static_cast<int>(std::clamp<double>(row, lowest, highest));
  }
};

bool numbered(const TensorResult& one) {
  return one.outcome() != Outcome::not_comparable && one.ratio > 0 && std::isfinite(one.ratio);
}

/// The finest scale on which all heights fit.
Scale scale_of(std::span<const TensorResult* const> results) {
  double low = 0;
  double high = 0;
  for (const TensorResult* one : results) {
    if (!numbered(*one)) continue;
    low = std::min(low, std::max(kLowest, std::log10(one->ratio)));
    high = std::max(high, std::log10(one->ratio));
  }
  constexpr std::array kSteps = {0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0};  // a double spans 632
  for (const double step : kSteps) {
    const Scale scale{step, static_cast<int>(std::round(low / step)),
                      static_cast<int>(std::round(high / step))};
    if (scale.highest - scale.lowest < kMostRows) return scale;
  }
  return {kSteps.back(), 0, kMostRows};
}

/// Worse is larger: what cannot be compared, equal, within, beyond, beyond without a number.
double badness(const TensorResult& one) {
  if (one.outcome() == Outcome::not_comparable) return -1;
  if (one.outcome() == Outcome::diverged && !numbered(one)) return HUGE_VAL;
  return one.outcome() == Outcome::equal ? 0 : one.ratio;
}

Spot spot_of(const TensorResult& one, const Scale& scale) {
  switch (one.outcome()) {
    case Outcome::not_comparable:
      return {'x', scale.lowest - 1};
    case Outcome::equal:
      return {'.', scale.lowest - 1};
    case Outcome::noise:
      return {'*', numbered(one) ? scale.row_of(one.ratio) : scale.lowest};
    case Outcome::diverged:
      return numbered(one) ? Spot{'#', scale.row_of(one.ratio)} : Spot{'!', scale.highest};
  }
  return {};
}

std::string label_of(int row, const Scale& scale) {
  if (row < scale.lowest) return "equal";
  return row == 0 ? "limit 1" : short_number(std::pow(10.0, row * scale.step));
}

}  // namespace

Curve curve_of(std::span<const TensorResult* const> results, int width) {
  Curve curve;
  if (results.empty()) return curve;
  curve.margin = kMargin;
  const std::size_t room =
      std::max(kFewestColumns + kMargin, static_cast<std::size_t>(std::max(width, 0))) - kMargin;
  const std::size_t columns = std::min(room, results.size());
  curve.per_column = (results.size() + columns - 1) / columns;
  std::vector<const TensorResult*> worst(columns, nullptr);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t column = i * columns / results.size();
    curve.column_of.push_back(column);
    if (worst[column] == nullptr || badness(*results[i]) > badness(*worst[column])) {
      worst[column] = results[i];
    }
  }
  const Scale scale = scale_of(results);
  for (int row = scale.highest; row >= scale.lowest - 1; --row) {
    std::string marks(columns, row == 0 ? '-' : ' ');
    for (std::size_t column = 0; column < columns; ++column) {
      const Spot spot = spot_of(*worst[column], scale);
      if (spot.row == row) marks[column] = spot.mark;
    }
    marks.erase(marks.find_last_not_of(' ') + 1);
    curve.lines.push_back(fmt::format("{:>10} |{}", label_of(row, scale), marks));
  }
  return curve;
}

}  // namespace ttcheck::reports
