// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <vector>

#include "reports/escape.hpp"
#include "reports/explain.hpp"
#include "reports/html_parts.hpp"
#include "reports/markup.hpp"
#include "reports/shell_words.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostOfCode = 30;

std::string item(const Finding& finding) {
  std::string place = finding.tensor.empty() ? finding.op : finding.tensor;
  if (finding.phase != Phase::none) place = fmt::format("{} {}", name(finding.phase), place);
  std::string text = fmt::format("<li class=\"{}\"><b>{}</b> ", severity_word(finding.severity),
                                 severity_word(finding.severity));
  if (!place.empty()) text += html_text(terminal_text(place)) + ": ";
  if (finding.step) text += fmt::format("step {}: ", *finding.step);
  text += html_text(message_text(finding.message));
  if (!finding.paste.empty()) {
    text += fmt::format("<pre>{}</pre>", html_text(layout_text(finding.paste)));
  }
  const std::string next = shell_words(finding.next);
  if (!next.empty()) text += fmt::format(" <code>{}</code>", html_text(next));
  return text + "</li>\n";
}

/// What the code means, and what to do about it.
std::string meaning(Code code) {
  const CodeText* const told = explanation_of(code);
  if (told == nullptr) return "";
  std::string text;
  for (const auto& [heading, words] : {std::pair{"What it is", told->what},
                                       {"Why it happens", told->why},
                                       {"How to confirm", told->confirm},
                                       {"How to fix", told->fix}}) {
    if (!words.empty()) text += fmt::format("<p><b>{}.</b> {}</p>\n", heading, html_text(words));
  }
  return text;
}

}  // namespace

std::string html_findings(const Verdict& verdict) {
  if (verdict.findings.empty()) return "";
  std::map<Code, std::vector<const Finding*>> by_code;
  std::vector<Code> order;
  for (const Finding& finding : verdict.findings) {
    auto& of_code = by_code[finding.code];
    if (of_code.empty()) order.push_back(finding.code);
    of_code.push_back(&finding);
  }
  std::string text =
      "<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings, what they mean and "
      "how "
      "to fix them</h2>\n";
  for (const Code code : order) {
    const auto& findings = by_code[code];
    text += fmt::format("<details{}>\n<summary>{} {}: {} ({})</summary>\n",
                        code == order.front() ? " open" : "", to_string(code), info(code).name,
                        html_text(info(code).summary), counted(std::ssize(findings), "finding"));
    text += meaning(code) + "<ul>\n";
    for (std::size_t i = 0; i < std::min(findings.size(), kMostOfCode); ++i) {
      text += item(*findings[i]);
    }
    if (findings.size() > kMostOfCode) {
      text += fmt::format("<li>and {} more</li>\n",
                          thousands(std::ssize(findings) - static_cast<std::int64_t>(kMostOfCode)));
    }
    text += "</ul>\n</details>\n";
  }
  return text + "</section>\n";
}

}  // namespace ttcheck::reports
