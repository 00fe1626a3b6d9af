// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/model/name_rules.hpp"
#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// How names met that do not by themselves: by a prefix, by bytes. Empty where none did.
std::string names_words(const Verdict& verdict) {
  std::vector<std::string> words;
  std::int64_t by_bytes = 0;
  for (const auto& [rule, count] : verdict.tally.rules) {
    if (is_prefix_rule(rule)) words.push_back("met without the " + terminal_text(rule));
    if (rule.starts_with(kEqualBytes)) by_bytes += count;
  }
  if (by_bytes > 0) {
    words.push_back(fmt::format("{} met under other names, by equal bytes", thousands(by_bytes)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

constexpr std::size_t kWidestPath = 60;  // longer ones do not push what follows aside

std::size_t path_columns(const std::optional<RunSummary>& run) {
  return run ? std::min(columns_of(terminal_text(run->path)), kWidestPath) : 0;
}

/// The path, and blanks up to where the words after it start.
std::string path_words(const RunSummary& run, std::size_t widest) {
  const std::string path = terminal_text(run.path);
  return path + std::string(widest - std::min(widest, columns_of(path)) + 2, ' ');
}

}  // namespace

std::string run_words(const RunSummary& run) {
  std::string text = terminal_text(run.format);
  const std::string mesh = mesh_words(run.mesh);
  if (!mesh.empty()) text += ", " + mesh;
  text += ", " + counted(run.tensors, "tensor") + ", " + short_bytes(run.bytes);
  if (run.steps.empty()) return text;
  return text + (run.steps.size() == 1 ? ", step " : ", steps ") + stepped(run.steps);
}

std::string headline_section(const std::string& headline, const std::string& sentence,
                             const Verdict& verdict, const ReportOptions& options) {
  const std::size_t indent = columns_of(headline) + 2;
  std::string text = wrapped(sentence, indent, options.width);
  text.replace(0, indent, Paint(options.color).of(*verdict.outcome, headline) + "  ");
  return text;
}

std::string sides_section(const Verdict& verdict, const ReportOptions& options) {
  std::string text;
  const std::size_t widest =
      std::max(path_columns(verdict.reference), path_columns(verdict.candidate));
  for (const auto& [label, run] :
       {std::pair{"reference", &verdict.reference}, std::pair{"candidate", &verdict.candidate}}) {
    if (!*run) continue;
    text += labelled(label, path_words(**run, widest) + run_words(**run), options.width);
  }
  const std::string names = names_words(verdict);
  if (!names.empty()) text += labelled("names", names, options.width);
  return text;
}

std::string head_section(const Verdict& verdict, const ReportOptions& options) {
  std::string text =
      headline_section(story_headline(verdict), story_sentence(verdict), verdict, options) + "\n" +
      sides_section(verdict, options);
  const bool differs = verdict.tally.of(Outcome::equal) < verdict.coverage.paired;
  if (verdict.relation && differs && !verdict.shown) {
    text += labelled("relation",
                     fmt::format("{}: {}", name(verdict.relation->kind),
                                 message_text(verdict.relation->evidence)),
                     options.width);
  }
  return text;
}

}  // namespace ttcheck::reports
