// SPDX-License-Identifier: Apache-2.0
// What leads up to the first difference of a trace, and what follows: the whole step as a curve,
// its neighbours as a table.

#include <fmt/format.h>

#include <algorithm>

#include "reports/columns.hpp"
#include "reports/curve.hpp"
#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kBefore = 6, kBehind = 3;  // rows of the table around the first difference

using Results = std::vector<const TensorResult*>;

/// The records of the step to be shown: that of the first difference, else that of the largest
/// error against its limit. In causal order, as they were judged.
Results records_of(const Verdict& verdict) {
  const TensorResult* about = result_of_first(verdict);
  for (const TensorResult& one : verdict.tensors) {
    if (one.trace == nullptr) continue;
    if (about == nullptr || (!verdict.first && one.ratio > about->ratio)) about = &one;
  }
  Results records;
  if (about == nullptr) return records;
  for (const TensorResult& one : verdict.tensors) {
    if (one.trace != nullptr && one.step == about->step) records.push_back(&one);
  }
  return records;
}

/// "|forward        |loss |backward": each phase where it begins, its name where there is room.
std::string phase_line(const Results& records, const Curve& curve) {
  const std::size_t columns = curve.column_of.back() + 1;
  std::string line;
  for (std::size_t i = 0; i < records.size();) {
    const Phase phase = records[i]->identity.phase;
    const std::size_t from = std::max(curve.column_of[i], line.size());
    while (i < records.size() && records[i]->identity.phase == phase) ++i;
    const std::size_t end = i < records.size() ? curve.column_of[i] : columns;
    if (end <= from) continue;
    const std::string_view word = phase == Phase::none ? "" : name(phase);
    line.resize(from, ' ');
    line += word.size() < end - from ? fmt::format("|{}", word) : "|";
  }
  return std::string(curve.margin, ' ') + line + "\n";
}

/// "^ forward layers.3.mlp/output.0", its point below the mark.
std::string pointer_line(std::size_t column, const std::string& words, const Curve& curve,
                         int width) {
  const std::size_t at = curve.margin + column;
  const std::size_t length = columns_of(words);
  if (at + 2 + length > static_cast<std::size_t>(width) && length + 1 <= at) {
    return std::string(at - length - 1, ' ') + words + " ^\n";
  }
  return std::string(at, ' ') + "^ " + words + "\n";
}

std::vector<std::string> row_of_record(const TensorResult& one, bool first) {
  const bool number = one.outcome() != Outcome::not_comparable;
  return {first ? ">" : "",
          shown(one.identity),
          number ? short_number(one.error) : "",
          number ? short_number(one.limit_shown()) : "",
          number ? short_number(one.ratio) : "",
          one.limit.measured > 0 ? short_number(one.limit.measured) : "",
          std::string(name(one.outcome()))};
}

/// The records around the first difference, as the model ran them.
std::string neighbours_table(const Results& records, std::size_t first,
                             const ReportOptions& options) {
  const std::size_t begin = first - std::min(first, kBefore);
  const std::size_t end = std::min(records.size(), first + kBehind + 1);
  Columns columns("llrrrrl");
  columns.add({"", "Around the first difference", "error", "limit", "ratio", "correct runs", ""});
  for (std::size_t i = begin; i < end; ++i) {
    columns.add(row_of_record(*records[i], i == first));
  }
  return table_section(columns, options);
}

}  // namespace

std::string curve_section(const Verdict& verdict, const ReportOptions& options) {
  if (options.verbose < 2) return "";
  const Results records = records_of(verdict);
  if (records.size() < 2) return "";
  const Curve curve = curve_of(records, options.width);
  std::string title = "Error against limit";
  if (records.front()->step) title += fmt::format(", step {}", *records.front()->step);
  std::string text = "\n" + Paint(options.color).bold(title) + "\n";
  std::string legend = fmt::format("{} in causal order",
                                   counted(static_cast<std::int64_t>(records.size()), "record"));
  if (curve.per_column > 1) {
    legend += fmt::format(", the worst of up to {} in a column", curve.per_column);
  }
  legend += "; # beyond the limit, * within it, . equal";
  const auto draws = [&](char mark) {
    return std::ranges::any_of(curve.lines, [&](const std::string& line) {
      return line.find(mark, curve.margin) != line.npos;
    });
  };
  if (draws('!')) legend += ", ! beyond it without a number";
  if (draws('x')) legend += ", x not comparable";
  text += labelled("", legend, options.width);
  for (const std::string& line : curve.lines) text += line + "\n";
  text += phase_line(records, curve);
  const auto first = std::ranges::find(records, result_of_first(verdict));
  if (!verdict.first || first == records.end()) return text;
  const auto at = static_cast<std::size_t>(first - records.begin());
  text += pointer_line(curve.column_of[at], shown(records[at]->identity), curve, options.width);
  return text + neighbours_table(records, at, options);
}

}  // namespace ttcheck::reports
