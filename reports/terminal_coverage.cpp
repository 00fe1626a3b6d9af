// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string_view>

#include "core/model/name_rules.hpp"
#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// "300 equal bit for bit, 10 equal after a cast (rounding 2, widening 8), 1 within the limit".
std::string outcome_words(const Tally& tally) {
  const std::int64_t cast = casts_of(tally);
  std::vector<std::string> words;
  const auto say = [&](std::int64_t count, const std::string& what) {
    if (count > 0) words.push_back(fmt::format("{} {}", thousands(count), what));
  };
  say(tally.of(Outcome::equal) - cast, "equal bit for bit");
  say(cast, fmt::format("equal after a cast ({})", cast_words(tally)));
  say(tally.of(Outcome::noise), "within the limit");
  say(tally.of(Outcome::diverged), "beyond it");
  say(tally.of(Outcome::not_comparable), "not comparable");
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string compared_words(const Verdict& verdict) {
  const Coverage& coverage = verdict.coverage;
  const std::vector<std::int64_t> list(verdict.tally.steps.begin(), verdict.tally.steps.end());
  std::string text = counted(coverage.paired, "pair of tensors");
  if (coverage.paired != 1) text = thousands(coverage.paired) + " pairs of tensors";
  text += ", " + short_bytes(coverage.bytes_compared);
  if (!list.empty()) text += (list.size() == 1 ? ", step " : ", steps ") + folded(list);
  return text + ": " + outcome_words(verdict.tally);
}

std::string limit_words(const std::map<std::string, std::int64_t>& sources) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> words;
  for (const auto& [source, count] : sources) {
    if (words.size() == kMost) {
      words.push_back(fmt::format("and {} more", sources.size() - kMost));
      break;
    }
    words.push_back(fmt::format("{} ({})", terminal_text(source), counted(count, "pair")));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

/// The rule of a table's row, with what the row says.
std::string met_by(std::string_view rule) {
  const NameRule* row = name_rule(rule);
  return fmt::format("by {}{}{}", terminal_text(rule), row == nullptr ? "" : ": ",
                     row == nullptr ? "" : row->says);
}

}  // namespace

std::int64_t casts_of(const Tally& tally) {
  std::int64_t all = 0;
  for (const auto& [name, count] : tally.casts) all += count;
  return all;
}

std::string cast_words(const Tally& tally) {
  std::vector<std::string> names;
  for (const auto& [name, count] : tally.casts) {
    names.push_back(fmt::format("{} {}", terminal_text(name), thousands(count)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string absent_words(const Coverage& coverage) {
  std::vector<std::string> words;
  const auto say = [&](std::int64_t count, std::string_view what) {
    if (count > 0) words.push_back(fmt::format("{} {}", thousands(count), what));
  };
  say(coverage.only_reference, "only in the reference");
  say(coverage.only_candidate, "only in the candidate");
  say(coverage.unreadable, "could not be read");
  const auto say_steps = [&](const std::vector<std::int64_t>& steps, std::string_view side) {
    if (steps.empty()) return;
    const std::string_view noun = steps.size() == 1 ? "step" : "steps";
    words.push_back(fmt::format("{} only in the {}: {}", noun, side, folded(steps)));
  };
  say_steps(coverage.steps_only_reference, "reference");
  say_steps(coverage.steps_only_candidate, "candidate");
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string excluded_words(const Coverage& coverage, std::string_view told) {
  std::vector<std::string> words;
  for (const auto& [rule, count] : coverage.excluded_by) {
    if (rule == told) continue;
    words.push_back(fmt::format("{} by {}", thousands(count), terminal_text(rule)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string known_words(const Verdict& verdict) {
  std::vector<std::string> words;
  for (const KnownTold& one : verdict.known) {
    const std::string which =
        one.first.empty()
            ? counted(one.count, "difference")
            : terminal_text(one.first) +
                  (one.count > 1 ? fmt::format(" and {} more", thousands(one.count - 1)) : "");
    words.push_back(fmt::format("{}: {} (known since {})", which, terminal_text(one.reason),
                                terminal_text(one.date)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string coverage_section(const Verdict& verdict, const ReportOptions& options) {
  const Coverage& coverage = verdict.coverage;
  std::string text = "\n" + Paint(options.color).bold("What was compared") + "\n";
  text += labelled("compared", compared_words(verdict), options.width);
  const std::string absent = absent_words(coverage);
  text += labelled("left over", absent.empty() ? "nothing on either side" : absent, options.width);
  if (coverage.excluded > 0) {
    text += labelled("excluded", excluded_words(coverage), options.width);
  }
  const std::string known = known_words(verdict);
  if (!known.empty()) text += labelled("known", known, options.width);
  const std::string limits = limit_words(verdict.tally.limits);
  const bool differs = verdict.tally.of(Outcome::equal) < coverage.paired;  // else none was needed
  if (!limits.empty() && differs) text += labelled("limits", limits, options.width);
  if (verdict.tally.with_nan > 0) {
    const std::string pairs = counted(verdict.tally.with_nan, "pair");
    text += labelled("NaN", pairs + ", at the same places on both sides", options.width);
  }
  std::string read = short_bytes(coverage.bytes_read) + " read";
  if (coverage.bytes_unclaimed > 0) {
    read +=
        fmt::format("; {} of the files belong to nothing", short_bytes(coverage.bytes_unclaimed));
  }
  return text + labelled("bytes", read, options.width);
}

std::string map_section(const Verdict& verdict, const ReportOptions& options) {
  if (!options.show_map) return "";
  std::string text = "\n" + Paint(options.color).bold("How names met") + "\n";
  for (const auto& [rule, count] : verdict.tally.rules) {
    text += labelled(thousands(count), met_by(rule), options.width);
  }
  Columns columns("lll");
  columns.add({"reference", "candidate", "by"});
  for (const auto& [reference, candidate, rule] : verdict.renames) {
    columns.add({terminal_text(reference), terminal_text(candidate), terminal_text(rule)});
  }
  return verdict.renames.empty() ? text : text + "\n" + columns.text(2);
}

}  // namespace ttcheck::reports
