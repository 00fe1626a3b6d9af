// SPDX-License-Identifier: Apache-2.0
#include "reports/junit.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "reports/escape.hpp"
#include "reports/fold.hpp"
#include "reports/listed.hpp"
#include "reports/markup.hpp"
#include "reports/off_by.hpp"
#include "reports/story.hpp"
#include "reports/terminal.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

enum class Fate { passed, failure, error };

struct Case {
  std::string name;
  Fate fate = Fate::passed;
  std::string type, message, body;  ///< of what did not pass
};

/// All cases, and how many of them did not pass.
class Suite {
 public:
  explicit Suite(const Verdict& verdict) : verdict_(verdict) {}

  void add(const Case& one) {
    ++tests_;
    text_ += fmt::format("    <testcase classname=\"ttcheck.{}\" name=\"{}\" time=\"0\"",
                         html_text(verdict_.command), html_text(one.name));
    if (one.fate == Fate::passed) {
      text_ += "/>\n";
      return;
    }
    const bool failed = one.fate == Fate::failure;
    ++(failed ? failures_ : errors_);
    const std::string_view element = failed ? "failure" : "error";
    text_ +=
        fmt::format(">\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", element,
                    html_text(one.type), html_text(one.message), html_text(one.body), element);
  }

  std::string finish() const {
    const std::string counts =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", tests_, failures_, errors_);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ttcheck\" {} "
        "time=\"0\">\n  <testsuite name=\"{}\" {} skipped=\"0\" time=\"0\">\n{}  "
        "</testsuite>\n</testsuites>\n",
        counts, html_text(title()), counts, text_);
  }

 private:
  std::string title() const {
    std::string title = verdict_.command;
    for (const auto* run : {&verdict_.reference, &verdict_.candidate}) {
      if (*run) title += " " + terminal_text((*run)->path);
    }
    return title;
  }

  const Verdict& verdict_;
  int tests_ = 0, failures_ = 0, errors_ = 0;
  std::string text_;
};

Case whole(const Verdict& verdict, const ReportOptions& options) {
  Case one;
  one.name = "all that was compared";
  const bool trouble = !verdict.complete || verdict.outcome == Outcome::not_comparable;
  one.fate = verdict.exit == 0 ? Fate::passed : trouble ? Fate::error : Fate::failure;
  if (one.fate == Fate::passed) return one;
  one.type = verdict.outcome ? std::string(name(*verdict.outcome)) : "unreadable";
  one.message = verdict.outcome ? story_headline(verdict) + ": " + story_sentence(verdict)
                                : "something could not be read";
  one.body = write_terminal(verdict, options);
  return one;
}

Case case_of(const Group& group) {
  Case one;
  one.name = name_of(group);
  const TensorResult& worst = *group.worst;
  const Outcome outcome = worst.outcome();
  if (outcome == Outcome::equal || outcome == Outcome::noise) return one;
  one.fate = outcome == Outcome::diverged ? Fate::failure : Fate::error;
  one.type = name(outcome);
  one.message = off_words(worst);
  if (group.results.size() > 1) {
    one.message =
        fmt::format("{}, the worst: {}", counted(std::ssize(group.results), "tensor"), one.message);
  }
  one.body = fmt::format("{}\n{}\n", shown(worst.identity), values_words(worst));
  return one;
}

/// Errors and warnings that no group of tensors tells of, by code.
std::vector<Case> others_of(const Verdict& verdict) {
  std::map<Code, Case> cases;
  for (const Finding& finding : verdict.findings) {
    const bool told = finding.ratio && verdict.outcome == Outcome::diverged;
    if (finding.severity != Severity::error || told) continue;
    Case& one = cases[finding.code];
    const std::string line =
        fmt::format("{}: {}", finding.tensor.empty() ? "all" : terminal_text(finding.tensor),
                    message_text(finding.message));
    if (one.body.empty()) {
      one.name = fmt::format("{} {}", to_string(finding.code), info(finding.code).name);
      one.type = to_string(finding.code);
      one.message = line;
    }
    one.fate = finding.incomplete ? Fate::error : Fate::failure;
    one.body += line + "\n";
  }
  std::vector<Case> list;
  for (auto& [code, one] : cases) list.push_back(std::move(one));
  return list;
}

}  // namespace

std::string write_junit(const Verdict& verdict, const ReportOptions& options) {
  Suite suite(verdict);
  suite.add(whole(verdict, options));
  if (verdict.outcome) {
    std::vector<const TensorResult*> results;
    for (const TensorResult& one : listed(verdict, options)) results.push_back(&one);
    for (const Group& group : fold(results)) suite.add(case_of(group));
  }
  for (const Case& one : others_of(verdict)) suite.add(one);
  return suite.finish();
}

}  // namespace ttcheck::reports
