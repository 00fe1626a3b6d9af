// SPDX-License-Identifier: Apache-2.0
#include "reports/columns.hpp"

#include <algorithm>

namespace ttcheck::reports {

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80; }));
}

std::string Columns::text(std::size_t indent) const {
  std::vector<std::size_t> widths(alignment_.size(), 0);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const bool empty = std::all_of(rows_.begin() + 1, rows_.end(),
                                   [&](const auto& row) { return row[column].empty(); });
    for (const auto& row : rows_) {
      if (!empty) widths[column] = std::max(widths[column], columns_of(row[column]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (widths[column] == 0) continue;
      const std::string gap(widths[column] - columns_of(row[column]), ' ');
      line += alignment_[column] == 'r' ? gap + row[column] : row[column] + gap;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t indent, int width) {
  std::string out(indent, ' ');
  std::size_t column = indent;
  const auto next_line = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n" + std::string(indent, ' ');
    column = indent;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::size_t size = columns_of(text.substr(0, end));
    if (column > indent && column + size > static_cast<std::size_t>(width)) next_line();
    out += text.substr(0, end);
    column += size;
    if (end < text.size() && text[end] == '\n') {
      next_line();
    } else if (end < text.size()) {
      out += ' ';
      ++column;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out.erase(std::max(out.find_last_not_of(' ') + 1, indent));
  return out + "\n";
}

std::string labelled(std::string_view label, std::string_view text, int width) {
  constexpr std::size_t kIndent = 2, kLabel = 11;
  std::string out = wrapped(text, kIndent + kLabel, width);
  const std::size_t columns = columns_of(label);
  const std::string gap(kLabel - std::min(kLabel - 1, columns), ' ');
  out.replace(kIndent, kLabel, std::string(label) + gap);
  if (text.empty()) out.erase(out.find_last_not_of(" \n") + 1).append("\n");
  return out;
}

}  // namespace ttcheck::reports
