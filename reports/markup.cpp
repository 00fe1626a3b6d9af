// SPDX-License-Identifier: Apache-2.0
#include "reports/markup.hpp"

#include <fmt/format.h>

namespace ttcheck::reports {
namespace {

constexpr std::string_view kHtml = "&<>\"'`";
constexpr std::string_view kMarkdown = "&<>\"'`|\\*_[]~#!@:$^{}=";
constexpr std::string_view kFormula = "=+-@\t\r";

/// Each of `special` as a numeric character reference, which no parser takes for anything else.
std::string with_references(std::string_view text, std::string_view special) {
  std::string out;
  for (const char letter : text) {
    if (special.find(letter) == std::string_view::npos) {
      out += letter;
    } else {
      out += fmt::format("&#{};", static_cast<int>(letter));
    }
  }
  return out;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::string html_text(std::string_view text) { return with_references(text, kHtml); }

std::string markdown_text(std::string_view text) {
  std::string out = with_references(text, kMarkdown);
  for (const std::string_view link : {"www.", "WWW."}) {  // a link without a scheme
    replace_all(out, link, fmt::format("{}&#46;", link.substr(0, 3)));
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  if (!cell.empty() && kFormula.find(cell.front()) != std::string_view::npos) cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n'") == std::string::npos) return cell;
  replace_all(cell, "\"", "\"\"");
  return "\"" + cell + "\"";
}

std::string label_text(std::string_view text) {
  std::string value(text);
  replace_all(value, "\\", "\\\\");
  replace_all(value, "\"", "\\\"");
  replace_all(value, "\n", "\\n");
  return value;
}

}  // namespace ttcheck::reports
