// SPDX-License-Identifier: Apache-2.0
#include "reports/html.hpp"

#include <fmt/format.h>

#include "core/base/version.hpp"
#include "reports/escape.hpp"
#include "reports/html_parts.hpp"
#include "reports/markup.hpp"
#include "reports/shell_words.hpp"
#include "reports/story.hpp"
#include "reports/terminal.hpp"

namespace ttcheck::reports {
namespace {

std::string head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; script-src 'sha256-{}'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      kStyleHash, kScriptHash, html_text(title), page_style());
}

/// The command that gives this answer again.
std::string repeat(const Verdict& verdict) {
  std::vector<std::string> words = {"ttcheck"};
  words.insert(words.end(), verdict.argv.begin(), verdict.argv.end());
  const std::string command = shell_words(words);
  std::string text = "<footer>\n";
  if (!command.empty()) {
    text += fmt::format("<p>Again: <code>{}</code></p>\n", html_text(command));
  }
  return text + fmt::format("<p>{}</p>\n<p>ttcheck {}</p>\n</footer>\n",
                            html_text(last_line(verdict)), html_text(version()));
}

std::string screen(const Verdict& verdict, const ReportOptions& options) {
  return fmt::format("<h1>ttcheck {}</h1>\n<pre>{}</pre>\n", html_text(verdict.command),
                     html_text(write_terminal(verdict, options)));
}

}  // namespace

std::string write_html(const Verdict& verdict, const ReportOptions& options) {
  const std::string title =
      verdict.outcome ? "ttcheck: " + story_headline(verdict) : "ttcheck " + verdict.command;
  std::string page = head(title) + "<main>\n";
  if (!verdict.outcome || verdict.calibration) {
    page += screen(verdict, options);
  } else {
    page += html_card(verdict);
    page += html_curve(verdict);
    page += html_layers(verdict);
    page += html_mesh(verdict);
    page += html_tensor(verdict);
    page += html_results(verdict, options);
    page += html_facts(verdict);
    page += html_findings(verdict);
    page += html_coverage(verdict, options);
  }
  return page + "</main>\n" + repeat(verdict) +
         fmt::format("<script>{}</script>\n</body>\n</html>\n", page_script());
}

}  // namespace ttcheck::reports
