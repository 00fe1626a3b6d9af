// SPDX-License-Identifier: Apache-2.0
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/markup.hpp"
#include "reports/story.hpp"
#include "reports/terminal.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostInMarkdown = 50;

std::string sides(const Story& story) {
  std::string text = "| | | |\n|---|---|---|\n";
  for (const auto& [label, path, words] : story.sides) {
    text += fmt::format("| {} | {} | {} |\n", label, markdown_text(path), markdown_text(words));
  }
  return text + "\n";
}

std::string rows(const Story& story) {
  if (story.rows.empty()) return "";
  std::string text =
      fmt::format("\n| {} | off by | explained | ranks | step |\n", story.rows_title) +
      "|---|--:|--:|---|---|\n";
  for (const StoryRow& row : story.rows) {
    text +=
        fmt::format("| {}{} | {} | {} | {} | {} |\n", markdown_text(row.name),
                    row.first ? " (first)" : "", row.off_by, row.explained, row.ranks, row.step);
  }
  if (story.more > 0) text += fmt::format("\n{} more\n", thousands(story.more));
  return text;
}

/// `text` within a fold, as far as `room` goes.
std::string folded_away(std::string_view title, std::string text, std::size_t room) {
  const std::string begin =
      fmt::format("\n<details><summary>{}</summary>\n\n<pre>\n", html_text(title));
  const std::string_view end = "</pre>\n\n</details>\n", cut = "...\n";
  const std::size_t around = begin.size() + end.size() + cut.size();
  if (around > room) return "";
  if (text.size() + around > room) {
    text.resize(room - around);
    text.resize(text.rfind('\n') + 1);
    text += cut;
  }
  return begin + text + std::string(end);
}

std::string findings_of(const Verdict& verdict, const ReportOptions& options) {
  ReportOptions all = options;
  all.top = 0;
  return html_text(findings_section(verdict, all));
}

}  // namespace

std::string write_markdown(const Verdict& verdict, const ReportOptions& options) {
  if (!verdict.outcome) {
    return fmt::format("## ttcheck {}\n\n<pre>\n{}</pre>\n", markdown_text(verdict.command),
                       html_text(write_terminal(verdict, options)));
  }
  const Story story = story_of(verdict, kMostInMarkdown);
  std::string text = fmt::format("## ttcheck: {}\n\n{}\n\n", markdown_text(story.headline),
                                 markdown_text(story.sentence));
  text += sides(story);
  for (const StoryLine& line : story.lines) {
    text += fmt::format("* **{}** {}\n", line.label, markdown_text(line.text));
  }
  text += rows(story);
  for (const StoryLine& command : story.commands) {
    text += fmt::format("\n{}: <code>{}</code>\n", command.label, html_text(command.text));
  }
  const std::string end = fmt::format("\n<sub>{}</sub>\n", markdown_text(last_line(verdict)));
  const auto findings = std::ssize(verdict.findings);
  if (findings > 0) {
    text += folded_away(counted(findings, "finding"), findings_of(verdict, options),
                        kMostMarkdown - std::min(kMostMarkdown, text.size() + end.size()));
  }
  return text + end;
}

}  // namespace ttcheck::reports
