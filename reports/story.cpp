// SPDX-License-Identifier: Apache-2.0
#include "reports/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/off_by.hpp"
#include "reports/shell_words.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

std::vector<StoryLine> search_lines(const Verdict& verdict) {
  if (!verdict.search) return {};
  const Search& search = *verdict.search;
  return {{"first bad", search_place(search.first_bad_step, search.first_bad_op), 9},
          {"last good", search_place(search.last_good_step, search.last_good_op), 9},
          {"looked at",
           fmt::format("{} of {} {}; {} read of {}", thousands(search.examined),
                       thousands(search.total), search.axis, short_bytes(search.bytes_read),
                       short_bytes(search.bytes_total)),
           3}};
}

/// What an answer that says "right" rests on.
std::vector<StoryLine> coverage_lines(const Verdict& verdict) {
  if (*verdict.outcome == Outcome::diverged) return {};
  const Coverage& coverage = verdict.coverage;
  std::vector<StoryLine> lines;
  const auto tell = [&](std::string_view label, std::string text, int weight) {
    if (!text.empty()) lines.push_back({label, std::move(text), weight});
  };
  if (coverage.paired > 0) {
    tell("compared",
         fmt::format("{} of tensors; {} of the files read", short_bytes(coverage.bytes_compared),
                     short_bytes(coverage.bytes_read)),
         2);
  }
  tell("not there", absent_words(coverage), 7);
  tell("left out", excluded_words(coverage, verdict.known.empty() ? "" : "known"), 6);
  return lines;
}

std::vector<StoryLine> known_lines(const Verdict& verdict) {
  std::string words = known_words(verdict);
  if (words.empty()) return {};
  return {{"known", std::move(words), 9}};
}

/// The finding that the commands are about: that of the first difference, else the first of the
/// severest.
const Finding* finding_to_follow(const Verdict& verdict) {
  if (const Finding* const first = finding_of_first(verdict)) return first;
  const auto found = std::ranges::max_element(verdict.findings, {}, &Finding::severity);
  return found == verdict.findings.end() || found->severity == Severity::note ? nullptr : &*found;
}

std::vector<StoryLine> commands_of(const Verdict& verdict) {
  const Finding* const finding = finding_to_follow(verdict);
  if (finding == nullptr) return {};
  std::vector<StoryLine> commands;
  const std::string next = shell_words(finding->next);
  if (!next.empty()) commands.push_back({"next", next});
  commands.push_back({"meaning", shell_words({"ttcheck", "explain", to_string(finding->code)}) +
                                     fmt::format("  # {}", info(finding->code).name)});
  return commands;
}

}  // namespace

Story story_of(const Verdict& verdict, std::size_t rows) {
  Story story;
  story.headline = story_headline(verdict);
  story.sentence = story_sentence(verdict);
  for (const auto& [label, run] :
       {std::pair{"reference", &verdict.reference}, std::pair{"candidate", &verdict.candidate}}) {
    if (*run) story.sides.push_back({label, terminal_text((*run)->path), run_words(**run)});
  }
  story.lines = search_lines(verdict);
  std::ranges::move(story_first(verdict), std::back_inserter(story.lines));
  std::ranges::move(story_findings(verdict), std::back_inserter(story.lines));
  std::ranges::move(known_lines(verdict), std::back_inserter(story.lines));
  std::ranges::move(coverage_lines(verdict), std::back_inserter(story.lines));
  tell_rows(verdict, rows, story);
  story.commands = commands_of(verdict);
  return story;
}

}  // namespace ttcheck::reports
