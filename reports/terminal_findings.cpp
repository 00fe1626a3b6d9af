// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/shell_words.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::array kSeverities = {Severity::error, Severity::warning, Severity::note};

/// Whether nothing else that is said of it tells which part of the file it is.
bool names_part(const Where& where, const Finding& finding) {
  return !where.object.empty() && !where.offset && finding.tensor.empty() &&
         finding.message.find(where.object) == std::string::npos;
}

/// "forward layers.0.mlp/output.0, step 12, ranks 0-3, model.pt at byte 4096".
std::string place_of(const Finding& finding) {
  std::vector<std::string> words;
  const std::string& tensor = finding.tensor.empty() ? finding.op : finding.tensor;
  if (!tensor.empty()) {
    words.push_back(finding.phase == Phase::none
                        ? terminal_text(tensor)
                        : fmt::format("{} {}", name(finding.phase), terminal_text(tensor)));
  }
  if (finding.step) words.push_back(fmt::format("step {}", *finding.step));
  if (finding.index && !finding.index->empty()) words.push_back(bracketed(*finding.index));
  if (!finding.ranks.empty()) {
    words.push_back((finding.ranks.size() == 1 ? "rank " : "ranks ") + folded(finding.ranks));
  }
  const auto& where = finding.where ? finding.where : finding.reference_where;
  if (where && !where->file.empty()) {
    words.push_back(where->offset
                        ? fmt::format("{} at byte {}", terminal_text(where->file), *where->offset)
                        : terminal_text(where->file));
  }
  if (where && names_part(*where, finding)) words.push_back(terminal_text(where->object));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string finding_text(const Finding& finding, bool with_next, const ReportOptions& options) {
  std::string text = fmt::format(
      "{} {} {}", Paint(options.color).of(finding.severity, severity_word(finding.severity)),
      to_string(finding.code), info(finding.code).name);
  const std::string place = place_of(finding);
  text += (place.empty() ? "" : ": " + place) + "\n";
  text += labelled("says", message_text(finding.message), options.width);
  text += layout_text(finding.paste);  // as it is, like the next command
  for (const Hypothesis& one : finding.hypotheses) {
    text += labelled("because", hypothesis_words(one), options.width);
  }
  if (!with_next) return text;
  const std::string next = shell_words(
      finding.next.empty() ? std::vector<std::string>{"ttcheck", "explain", to_string(finding.code)}
                           : finding.next);
  // Not broken into lines: it is there to be pasted.
  return next.empty() ? text : text + fmt::format("  {:<11}{}\n", "next", next);
}

std::string heading_of(const Verdict& verdict) {
  std::vector<std::string> words;
  for (const Severity severity : kSeverities) {
    const auto count = std::ranges::count(verdict.findings, severity, &Finding::severity);
    if (count > 0) words.push_back(counted(count, std::string(severity_word(severity))));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string findings_section(const Verdict& verdict, const ReportOptions& options) {
  if (verdict.findings.empty()) return "";
  std::string text = "\n" + Paint(options.color).bold(heading_of(verdict)) + "\n";
  const std::size_t most =
      options.top == 0 ? verdict.findings.size() : static_cast<std::size_t>(options.top);
  std::map<Code, std::size_t> of_code;  // each code has its share of the room
  std::map<Code, std::int64_t> left_out;
  const std::size_t share = options.top == 0 ? most : std::max<std::size_t>(most / 3, 1);
  std::size_t shown = 0;
  for (const Severity severity : kSeverities) {
    for (const Finding& finding : verdict.findings) {
      if (finding.severity != severity) continue;
      if (shown >= most || of_code[finding.code] >= share) {
        ++left_out[finding.code];
        continue;
      }
      ++shown;
      text += finding_text(finding, ++of_code[finding.code] == 1 || !finding.next.empty(), options);
    }
  }
  if (left_out.empty()) return text;
  std::vector<std::string> words;
  for (const auto& [code, count] : left_out) {
    words.push_back(fmt::format("{} {}", thousands(count), to_string(code)));
  }
  return text + fmt::format("... and {} more (--top 0)\n", fmt::join(words, ", "));
}

}  // namespace ttcheck::reports
