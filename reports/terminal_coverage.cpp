#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// "300 bit for bit, 10 after a cast (widening 8, rounding 2), 1 within the limit, 1 beyond it".
std::string outcome_words(const Verdict& verdict) {
  std::int64_t bitwise = 0, cast = 0, noise = 0, diverged = 0, other = 0;
  std::map<std::string, std::int64_t> casts;
  for (const TensorResult& one : verdict.tensors) {
    switch (one.outcome) {
      case Outcome::equal:
        ++(one.cast.empty() ? bitwise : cast);
        if (!one.cast.empty()) ++casts[one.cast];
        break;
      case Outcome::noise:
        ++noise;
        break;
      case Outcome::diverged:
        ++diverged;
        break;
      case Outcome::not_comparable:
        ++other;
        break;
    }
  }
  std::vector<std::string> words;
  const auto say = [&](std::int64_t count, const std::string& what) {
    if (count > 0) words.push_back(fmt::format("{} {}", thousands(count), what));
  };
  say(bitwise, "equal bit for bit");
  std::vector<std::string> names;
  for (const auto& [name, count] : casts) {
    names.push_back(fmt::format("{} {}", terminal_text(name), thousands(count)));
  }
  say(cast, fmt::format("equal after a cast ({})", fmt::join(names, ", ")));
  say(noise, "within the limit");
  say(diverged, "beyond it");
  say(other, "not comparable");
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string compared_words(const Verdict& verdict) {
  const Coverage& coverage = verdict.coverage;
  std::set<std::int64_t> steps;
  for (const TensorResult& one : verdict.tensors) {
    if (one.step) steps.insert(*one.step);
  }
  const std::vector<std::int64_t> list(steps.begin(), steps.end());
  std::string text = counted(coverage.paired, "pair of tensors");
  if (coverage.paired != 1) text = thousands(coverage.paired) + " pairs of tensors";
  text += ", " + short_bytes(coverage.bytes_compared);
  if (!list.empty()) text += (list.size() == 1 ? ", step " : ", steps ") + folded(list);
  return text + ": " + outcome_words(verdict);
}

/// What was on one side only, left out or lost; empty when there was no such thing.
std::string absent_words(const Coverage& coverage) {
  std::vector<std::string> words;
  const auto say = [&](std::int64_t count, std::string_view what) {
    if (count > 0) words.push_back(fmt::format("{} {}", thousands(count), what));
  };
  say(coverage.only_reference, "only in the reference");
  say(coverage.only_candidate, "only in the candidate");
  say(coverage.unreadable, "could not be read");
  if (!coverage.steps_only_reference.empty()) {
    words.push_back("steps only in the reference: " + folded(coverage.steps_only_reference));
  }
  if (!coverage.steps_only_candidate.empty()) {
    words.push_back("steps only in the candidate: " + folded(coverage.steps_only_candidate));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string excluded_words(const Coverage& coverage) {
  std::vector<std::string> words;
  for (const auto& [rule, count] : coverage.excluded_by) {
    words.push_back(fmt::format("{} by {}", thousands(count), terminal_text(rule)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string limit_words(const Verdict& verdict) {
  std::map<std::string, std::int64_t> sources;
  for (const TensorResult& one : verdict.tensors) {
    if (!one.limit.source.empty()) ++sources[one.limit.source];
  }
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

}  // namespace

std::string coverage_section(const Verdict& verdict, const ReportOptions& options) {
  const Coverage& coverage = verdict.coverage;
  std::string text = "\n" + Paint(options.color).bold("What was compared") + "\n";
  text += labelled("compared", compared_words(verdict), options.width);
  const std::string absent = absent_words(coverage);
  text += labelled("left over", absent.empty() ? "nothing on either side" : absent, options.width);
  if (coverage.excluded > 0) {
    text += labelled("excluded", excluded_words(coverage), options.width);
  }
  const std::string limits = limit_words(verdict);
  if (!limits.empty()) text += labelled("limits", limits, options.width);
  std::string read = short_bytes(coverage.bytes_read) + " read";
  if (coverage.bytes_unclaimed > 0) {
    read +=
        fmt::format("; {} of the files belong to nothing", short_bytes(coverage.bytes_unclaimed));
  }
  return text + labelled("bytes", read, options.width);
}

std::string map_section(const Verdict& verdict, const ReportOptions& options) {
  if (!options.show_map) return "";
  std::map<std::string, std::int64_t> rules;
  for (const TensorResult& one : verdict.tensors) ++rules[one.rule.empty() ? "same" : one.rule];
  std::string text = "\n" + Paint(options.color).bold("How names met") + "\n";
  for (const auto& [rule, count] : rules) {
    text += labelled(thousands(count), "by " + terminal_text(rule), options.width);
  }
  Columns columns("ll");
  columns.add({"reference", "candidate"});
  for (const auto& [reference, candidate] : verdict.renames) {
    columns.add({terminal_text(reference), terminal_text(candidate)});
  }
  return verdict.renames.empty() ? text : text + "\n" + columns.text(2);
}

}  // namespace ttcheck::reports
