// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/name_groups.hpp"
#include "reports/story.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostGroups = 4;

/// What one side lacks, or has in another shape.
struct Lack {
  Code code;
  std::string_view label, side;
};
constexpr Lack kLacks[] = {{Code::missing, "missing", "only in the reference: "},
                           {Code::unexpected, "unexpected", "only in the candidate: "},
                           {Code::shape_or_dtype, "shapes", ""}};

std::vector<StoryLine> lacks_of(const Verdict& verdict) {
  std::vector<StoryLine> lines;
  for (const auto& [code, label, side] : kLacks) {
    std::vector<std::string_view> names;
    std::set<std::string_view> seen;
    const Finding* only = nullptr;
    for (const Finding& finding : verdict.findings) {
      if (finding.code != code || !tells_lack(finding)) continue;
      if (seen.insert(finding.tensor).second) names.push_back(finding.tensor);  // of any step
      only = &finding;
    }
    if (names.empty()) continue;
    std::string text = grouped_names(names, kMostGroups);
    if (names.size() > 1) text.insert(0, side);
    if (names.size() == 1) text += ": " + message_text(only->message);
    lines.push_back({label, std::move(text), 8});
  }
  return lines;
}

/// Findings of one code and severity that no other line tells.
struct Alike {
  const Finding* first = nullptr;
  std::int64_t count = 0;
};

/// The message, for lines to paste where these are.
std::string said_of(const Finding& finding) {
  std::string text = finding.message.substr(0, finding.aside);
  const std::size_t clause = text.rfind("; ");
  if (!finding.paste.empty() && text.ends_with(':') && clause != std::string::npos) {
    text.replace(clause + 2, std::string::npos, "-v has a map to paste");
  }
  return message_text(text);
}

std::string words_of(const Alike& alike) {
  const Finding& one = *alike.first;
  std::string text = to_string(one.code);
  const std::string& tensor = one.tensor.empty() ? one.op : one.tensor;
  if (!tensor.empty() && one.message.find(tensor) == std::string::npos) {
    text += " " + terminal_text(tensor);
  }
  if (tensor.empty() && one.where && one.message.find(one.where->file) == std::string::npos) {
    text += " " + terminal_text(one.where->file);
  }
  text += ": " + said_of(one);
  return alike.count == 1 ? text
                          : text + fmt::format("; and {} like it", thousands(alike.count - 1));
}

/// Whether the first difference, the rows beside it or what came before it tell of it.
bool is_told(const Verdict& verdict, const Finding& finding, const Finding* first) {
  if (&finding == first || tells_lack(finding)) return true;
  const bool of_values =
      finding.severity == Severity::error && !finding.tensor.empty() && finding.ratio.has_value();
  return of_values && verdict.outcome == Outcome::diverged && finding.code != Code::odd_one_out;
}

/// Notes weigh least, but for the one that says what the answer rests on.
int weight_of(const Finding& finding) {
  if (finding.code == Code::unmeasured_noise) return 3;
  return finding.severity == Severity::note ? 1 : finding.severity == Severity::warning ? 4 : 6;
}

std::vector<StoryLine> others_of(const Verdict& verdict) {
  const Finding* const first = finding_of_first(verdict);
  const std::vector<std::string> causes = causes_before(verdict);
  std::map<std::pair<int, Code>, Alike> alike;  // the severest first
  for (const Finding& finding : verdict.findings) {
    if (is_told(verdict, finding, first)) continue;
    Alike& group = alike[{-static_cast<int>(finding.severity), finding.code}];
    if (group.first == nullptr) group.first = &finding;
    ++group.count;
  }
  std::vector<StoryLine> lines;
  for (const auto& [key, group] : alike) {
    const Severity severity = group.first->severity;
    std::string text = words_of(group);
    const bool cause = std::ranges::any_of(causes, [&](const std::string& words) {
      return words.find(message_text(group.first->message)) != std::string::npos;
    });
    if (!cause)
      lines.push_back({severity_word(severity), std::move(text), weight_of(*group.first)});
  }
  return lines;
}

}  // namespace

bool tells_lack(const Finding& finding) {
  return !finding.tensor.empty() && finding.severity != Severity::note &&
         std::ranges::find(kLacks, finding.code, &Lack::code) != std::end(kLacks);
}

std::vector<StoryLine> story_findings(const Verdict& verdict) {
  std::vector<StoryLine> lines = lacks_of(verdict);
  for (StoryLine& one : others_of(verdict)) lines.push_back(std::move(one));
  return lines;
}

}  // namespace ttcheck::reports
