// SPDX-License-Identifier: Apache-2.0
// The short screen of `show`: what the pair is, then as many of the parts of what lies inside as 40
// lines hold, the weightiest first, in their usual order.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "reports/columns.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostLinesShown = 40;

std::size_t height(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Verdict, sides, and what the story says of a pair.
std::string head_of(const Verdict& verdict, const ReportOptions& options) {
  if (!verdict.outcome) return "";
  std::string text =
      headline_section(story_headline(verdict), story_sentence(verdict), verdict, options);
  text += "\n" + sides_section(verdict, options) + "\n";
  for (const StoryLine& line : story_first(verdict)) {
    if (line.weight > 6) text += labelled(line.label, line.text, options.width);
  }
  return text;
}

}  // namespace

std::string shown_screen(const Verdict& verdict, const ReportOptions& options) {
  ReportOptions few = options;
  few.top = options.rows;  // as many elements and ranks as a short screen has rows
  const std::vector<ShownPart> parts = shown_parts(verdict, few);
  std::string text = head_of(verdict, options);
  std::size_t room = kMostLinesShown - 3 - std::min(height(text), kMostLinesShown - 3);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return parts[i].weight; });
  std::vector<char> fits(parts.size());
  bool whole = true;
  for (const std::size_t i : order) {
    const std::size_t lines = height(parts[i].text);
    fits[i] = lines <= room ? 1 : 0;
    whole = whole && fits[i] != 0;
    if (fits[i] != 0) room -= lines;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (fits[i] != 0) text += parts[i].text;
  }
  return text + (whole ? "\n" : "\n-v has more\n");
}

}  // namespace ttcheck::reports
