// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/html_parts.hpp"
#include "reports/markup.hpp"
#include "reports/story.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kCardRows = 10;

std::string pair(std::string_view label, std::string_view html) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, html);
}

/// A column of the rows; one that is empty in all of them is left out.
struct Column {
  std::string_view heading;
  std::string StoryRow::* cell;
  bool number = false;
};
constexpr Column kColumns[] = {{"tensor", &StoryRow::name},
                               {"off by", &StoryRow::off_by, true},
                               {"explained", &StoryRow::explained, true},
                               {"ranks", &StoryRow::ranks},
                               {"step", &StoryRow::step}};

std::string rows_of(const Story& story) {
  if (story.rows.empty()) return "";
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    const auto has = [&](const StoryRow& row) { return !(row.*column.cell).empty(); };
    if (std::ranges::any_of(story.rows, has)) columns.push_back(column);
  }
  std::string text = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"What is "
      "wrong\"><table>\n<caption>{}</caption>\n<thead><tr>",
      html_text(story.rows_title));
  for (const Column& column : columns) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"n\"" : "",
                        column.heading);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const StoryRow& row : story.rows) {
    text += row.first ? "<tr class=\"first\">" : "<tr>";
    for (const Column& column : columns) {
      text += fmt::format("<td{}>{}</td>", column.number ? " class=\"n\"" : "",
                          html_text(row.*column.cell));
    }
    text += "</tr>\n";
  }
  text += "</tbody>\n</table></div>\n";
  return story.more > 0 ? text + fmt::format("<p>and {} more</p>\n", thousands(story.more)) : text;
}

}  // namespace

std::string html_card(const Verdict& verdict) {
  const Story story = story_of(verdict, kCardRows);
  std::string text =
      fmt::format("<header class=\"card {}\">\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<dl>\n",
                  name(*verdict.outcome), html_text(story.headline), html_text(story.sentence));
  for (const StorySide& side : story.sides) {
    text +=
        pair(side.label, fmt::format("<b>{}</b> {}", html_text(side.path), html_text(side.words)));
  }
  for (const StoryLine& line : story.lines) text += pair(line.label, html_text(line.text));
  text += "</dl>\n" + rows_of(story);
  for (const StoryLine& command : story.commands) {
    text += fmt::format("<p>{}: <code>{}</code></p>\n", command.label, html_text(command.text));
  }
  return text + "</header>\n";
}

}  // namespace ttcheck::reports
