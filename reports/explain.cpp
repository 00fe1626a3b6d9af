// SPDX-License-Identifier: Apache-2.0
#include "reports/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck::reports {
namespace {

constexpr std::string_view kReserved = " (reserved: nothing makes it yet)";

}  // namespace

std::string paragraph(std::string_view heading, std::string_view body) {
  constexpr std::size_t kColumns = 80;
  if (body.empty()) return "";
  std::string text = fmt::format("\n{}\n", heading);
  std::string line = " ";
  while (!body.empty()) {
    const std::size_t end = std::min(body.find(' '), body.size());
    if (line.size() + 1 + end > kColumns) {
      text += line + "\n";
      line = " ";
    }
    line += fmt::format(" {}", body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return text + line + "\n";
}

std::string list_of_codes() {
  std::string text;
  for (const CodeInfo& row : codes()) {
    if (row.reserved) continue;  // nothing makes it yet
    text += fmt::format("{}  {:<22}{}\n", to_string(row.code), row.name, row.summary);
  }
  return text;
}

std::string explained(Code code) {
  const CodeInfo& row = info(code);
  std::string text = fmt::format("{} {}: {}{}\n", to_string(code), row.name, row.summary,
                                 row.reserved ? kReserved : "");
  if (const CodeText* more = explanation_of(code)) {
    text += paragraph("What it says", more->what);
    text += paragraph("How it comes about", more->why);
    text += paragraph("A real case", more->incident);
    text += paragraph("How to confirm", more->confirm);
    text += paragraph("How to fix", more->fix);
  }
  return text;
}

}  // namespace ttcheck::reports
