// SPDX-License-Identifier: Apache-2.0
// Each record of the step of the first difference as a mark: to the right what comes later, upwards
// what is farther beyond its limit, by decades. Where there are more records than marks, a mark is
// the worst of its share.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "reports/first.hpp"
#include "reports/html_parts.hpp"
#include "reports/svg.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr double kPlotWidth = 960, kPlotHeight = 280, kPlotLeft = 70, kPlotTop = 30,
                 kPlotBottom = 40;
constexpr double kLowest = -6, kHighest = 8;  ///< decades of error over limit
constexpr std::size_t kMostPoints = 800;

double height_of(double ratio) {
  const double decade = ratio > 0 ? std::clamp(std::log10(ratio), kLowest, kHighest) : kLowest - 1;
  const double share = (decade - kLowest + 1) / (kHighest - kLowest + 1);
  return kPlotHeight - kPlotBottom - share * (kPlotHeight - kPlotTop - kPlotBottom);
}

std::vector<const TensorResult*> records_of(const Verdict& verdict) {
  std::vector<const TensorResult*> records;
  const std::optional<std::int64_t> step =
      verdict.first ? verdict.first->step
                    : (verdict.tensors.empty() ? std::nullopt : verdict.tensors.front().step);
  for (const TensorResult& one : verdict.tensors) {
    if (one.step == step && one.outcome() != Outcome::not_comparable) records.push_back(&one);
  }
  return records;
}

void draw_axis(Svg& svg) {
  for (const int decade : {-6, -4, -2, 0, 2, 4, 6, 8}) {
    const double y = height_of(std::pow(10.0, decade));
    svg.line(kPlotLeft, y, kPlotWidth - 10, y, decade == 0 ? "limit" : "grid");
    svg.text(kPlotLeft - 8, y + 4, decade == 0 ? "limit" : fmt::format("10^{}", decade), "end");
  }
  svg.text(kPlotLeft - 8, height_of(0) + 4, "equal", "end");
}

/// Where each phase begins.
void draw_phases(std::span<const TensorResult* const> records, double step, Svg& svg) {
  double free = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Phase phase = records[i]->identity.phase;
    if (phase == Phase::none || (i > 0 && records[i - 1]->identity.phase == phase)) continue;
    const double x = kPlotLeft + static_cast<double>(i) * step;
    svg.line(x, kPlotTop, x, kPlotHeight - kPlotBottom, "grid");
    if (x < free) continue;  // its name would cover the one before
    svg.text(x + 3, kPlotHeight - 12, name(phase));
    free = x + 70;
  }
}

std::string words_of(std::span<const TensorResult* const> records, const TensorResult* first) {
  const auto wrong = std::ranges::count_if(
      records, [](const TensorResult* one) { return one->outcome() == Outcome::diverged; });
  std::string words = fmt::format(
      "{} in the order in which a difference comes about, error over limit by decades; ",
      counted(std::ssize(records), "tensor"));
  if (wrong == 0) return words + "none is beyond its limit.";
  words += fmt::format("{} {} beyond the limit", thousands(wrong), wrong == 1 ? "is" : "are");
  return first == nullptr ? words + "."
                          : words + ", the first of them " + shown(first->identity) + ".";
}

}  // namespace

std::string html_curve(const Verdict& verdict) {
  const std::vector<const TensorResult*> records = records_of(verdict);
  if (records.size() < 2) return "";
  Svg svg(kPlotWidth, kPlotHeight);
  draw_axis(svg);
  const double step = (kPlotWidth - kPlotLeft - 20) / static_cast<double>(records.size());
  draw_phases(records, step, svg);
  const TensorResult* const first = result_of_first(verdict);
  const std::size_t share = (records.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t begin = 0; begin < records.size(); begin += share) {
    const auto some = std::span(records).subspan(begin, std::min(share, records.size() - begin));
    const TensorResult& worst =
        **std::ranges::max_element(some, {}, [](const TensorResult* one) { return one->ratio; });
    const double x = kPlotLeft + static_cast<double>(begin) * step;
    const double width = std::clamp(step * static_cast<double>(share) - 1, 2.0, 24.0);
    const bool has_first = std::ranges::find(some, first) != some.end();
    if (has_first) {
      svg.line(x + width / 2, kPlotTop, x + width / 2, kPlotHeight - kPlotBottom, "mark");
      svg.text(x + width / 2 + (x > kPlotWidth / 2 ? -6 : 6), kPlotTop - 8,
               "first: " + shown(first->identity), x > kPlotWidth / 2 ? "end" : "start");
    }
    svg.rect(x, height_of(worst.ratio) - 3, width, 6, heat_class(worst.ratio),
             fmt::format("{}: {} of its limit", shown(worst.identity), short_number(worst.ratio)));
  }
  return svg.figure("curve", "Error against limit, in order", words_of(records, first),
                    heat_legend());
}

}  // namespace ttcheck::reports
