// SPDX-License-Identifier: Apache-2.0
// The short screen: a story in so many lines that none scrolls away. Where it is longer, notes go
// first, then blank lines, then rows of the table, then what else is lightest.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/columns.hpp"
#include "reports/first.hpp"
#include "reports/paint.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostLines = 24;     ///< of what diverged, or could not be compared
constexpr std::size_t kMostLinesFew = 10;  ///< of what is right, or wrong in one element alone
constexpr int kAside = 2, kMost = 8;       ///< weights of lines: notes; all that may be left out
constexpr std::size_t kLinesOfOne = 2;     ///< that one label may take

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// The first lines of it, with a mark where there were more.
std::string cut(std::string text, std::size_t most, int width) {
  constexpr std::string_view kMark = " ..";
  if (lines_in(text) <= most) return text;
  std::size_t begin = 0, end = 0;
  for (std::size_t i = 0; i < most; ++i) {
    begin = end;
    end = text.find('\n', begin) + 1;
  }
  text.resize(end - 1);
  while (columns_of(text.substr(begin)) + kMark.size() > static_cast<std::size_t>(width)) {
    const std::size_t blank = text.find_last_of(' ');
    if (blank <= begin || text.find_first_not_of(' ', begin) > blank) break;
    text.resize(blank);
  }
  return text.append(kMark) + "\n";
}

std::string table_of(const Story& story, const ReportOptions& options) {
  if (story.rows.empty()) return "";
  Columns columns("lrrlll");
  columns.add({story.rows_title, "off by", "explained", "ranks", "step", ""});
  for (const StoryRow& row : story.rows) {
    columns.add(
        {row.name, row.off_by, row.explained, row.ranks, row.step, row.first ? "<- first" : ""});
  }
  std::string text = columns.text(2);
  if (story.more > 0) text += fmt::format("  ... {} more (-v)\n", thousands(story.more));
  const std::size_t heading = text.find('\n');
  return Paint(options.color).bold(text.substr(0, heading)) + text.substr(heading);
}

/// The end of the word of a shell that begins there; blanks within quotes are its own.
std::size_t word_end(std::string_view text, std::size_t at) {
  for (bool quoted = false; at < text.size(); ++at) {
    if (text[at] == '\'') quoted = !quoted;
    if (text[at] == '\\' && !quoted) ++at;
    if (at < text.size() && text[at] == ' ' && !quoted) return at;
  }
  return text.size();
}

/// A command goes on in the next line behind a backslash, between words, as a shell reads it.
std::string command_line(const StoryLine& command, int width) {
  constexpr std::size_t kIndent = 13;
  const std::string_view text = command.text;
  const std::size_t most = static_cast<std::size_t>(width) - 2;  // the backslash
  std::string out = fmt::format("  {:<11}", command.label);
  std::size_t column = kIndent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    const std::size_t size = columns_of(text.substr(at, end - at));
    if (column > kIndent && column + 1 + size > most) {
      out += " \\\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (at > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += size;
    at = end + 1;
  }
  return out + "\n";
}

/// Leaves out the lightest line, of equal ones the last, unless all weigh more than `most`.
bool drop_lightest(std::vector<StoryLine>& lines, int most) {
  auto lightest = lines.end();
  for (auto one = lines.begin(); one != lines.end(); ++one) {
    if (one->weight > most) continue;
    if (lightest == lines.end() || one->weight <= lightest->weight) lightest = one;
  }
  if (lightest == lines.end()) return false;
  lines.erase(lightest);
  return true;
}

std::string text_of(const Story& story, const Verdict& verdict, bool airy,
                    const ReportOptions& options) {
  const std::string_view gap = airy ? "\n" : "";
  std::string text =
      cut(headline_section(story.headline, story.sentence, verdict, options), 3, options.width);
  text += gap;
  text += sides_section(verdict, options);
  if (!story.lines.empty()) text += gap;
  for (const StoryLine& one : story.lines) {
    text += cut(labelled(one.label, one.text, options.width), kLinesOfOne, options.width);
  }
  const std::string table = table_of(story, options);
  if (!table.empty()) (text += gap) += table;
  if (!story.commands.empty()) text += gap;
  for (const StoryLine& one : story.commands) text += command_line(one, options.width);
  return text.append(gap);
}

/// Whether there is little to say: of a trace what came before and after is told, too.
bool is_short(const Verdict& verdict) {
  const TensorResult* const first = result_of_first(verdict);
  const bool one_element = verdict.tally.of(Outcome::diverged) == 1 && first != nullptr &&
                           !first->trace && first->metrics.unequal_values == 1;
  return *verdict.outcome == Outcome::equal || *verdict.outcome == Outcome::noise || one_element;
}

}  // namespace

std::string screen_section(const Verdict& verdict, const ReportOptions& options) {
  const bool asked = options.rows != ReportOptions().rows;  // as many as somebody wants to see
  Story story = story_of(
      verdict, options.rows == 0 ? verdict.tensors.size() : static_cast<std::size_t>(options.rows));
  const std::size_t most = (is_short(verdict) ? kMostLinesFew : kMostLines) - 1;  // and the last
  for (bool airy = true;;) {
    const std::string text = text_of(story, verdict, airy, options);
    if (lines_in(text) <= most || asked) return text;
    if (drop_lightest(story.lines, kAside)) continue;
    if (airy) {
      airy = false;
    } else if (story.rows.size() > 1) {
      story.rows.pop_back();
      ++story.more;
    } else if (!drop_lightest(story.lines, kMost)) {
      return text;
    }
  }
}

}  // namespace ttcheck::reports
