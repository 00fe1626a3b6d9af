// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/model/kind.hpp"
#include "core/model/name_rules.hpp"
#include "core/model/part_alone.hpp"
#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// What only one side has beside the weights of both: "42 more only in the candidate (loss 1, ..)".
std::string beside_words(const Coverage& coverage, std::int64_t OneSided::* side,
                         std::string_view name) {
  std::int64_t all = 0;
  std::vector<std::string> rules;
  for (const OneSided& one : coverage.beside) {
    if (one.*side == 0) continue;
    all += one.*side;
    rules.push_back(fmt::format("{} {}", terminal_text(one.rule), thousands(one.*side)));
  }
  if (all == 0) return "";
  return fmt::format("; {} more only in the {} ({})", thousands(all), name, fmt::join(rules, ", "));
}

/// What lies beside what met.
std::string tail(const Verdict& verdict) {
  return beside_words(verdict.coverage, &OneSided::reference, "reference") +
         beside_words(verdict.coverage, &OneSided::candidate, "candidate");
}

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

/// "all 11 of the reference" where the other side has more than these, else all that were compared.
std::string equal_sentence(const Verdict& verdict) {
  std::int64_t cast = 0;
  for (const auto& [name, count] : verdict.tally.casts) cast += count;
  const std::int64_t paired = verdict.coverage.paired;
  const bool more_here = !beside_words(verdict.coverage, &OneSided::reference, "").empty();
  const bool more_there = !beside_words(verdict.coverage, &OneSided::candidate, "").empty();
  std::string text = counted(paired, "tensor") + " compared, all equal";
  if (more_here != more_there) {
    text =
        fmt::format("all {} of the {}", thousands(paired), more_here ? "candidate" : "reference");
    if (cast == 0) return text + tail(verdict);
  }
  text += cast == 0 ? " bit for bit" : fmt::format("; {} of them after a cast", thousands(cast));
  return text + tail(verdict);
}

/// Errors that say what one side lacks or has otherwise, while no numbers differ.
struct Unmet {
  std::int64_t missing = 0, unexpected = 0, shapes = 0;
  std::int64_t turned = 0;               ///< of these shapes
  bool weights = true, records = false;  ///< all of them are

  explicit Unmet(const Verdict& verdict) {
    for (const Finding& finding : verdict.findings) {
      if (finding.severity != Severity::error || finding.tensor.empty()) continue;
      const bool transposed = finding.code == Code::permutation;
      if (transposed) ++turned;
      if (transposed || finding.code == Code::shape_or_dtype) ++shapes;
      if (finding.code == Code::missing) ++missing;
      if (finding.code == Code::unexpected) ++unexpected;
      if (finding.code != Code::missing && finding.code != Code::unexpected) continue;
      records = finding.phase != Phase::none;
      weights = weights && !records && kind_of_name(finding.tensor) == Kind::weight;
    }
  }

  /// The word in front, where numbers do not differ but what there is does.
  std::string_view heading() const {
    if (missing > 0) return "MISSING";
    if (unexpected > 0) return "UNEXPECTED";
    if (shapes > 0 && turned == shapes) return "TRANSPOSED";
    return shapes > 0 ? "OTHER SHAPES" : "DIVERGED";
  }

  std::string sentence(const Verdict& verdict) const {
    const std::string_view others = verdict.tally.of(Outcome::noise) > 0
                                        ? "; the others are equal or within their limits"
                                        : "; the others are equal";
    const std::int64_t met = weights ? verdict.coverage.weights : verdict.coverage.paired;
    const std::string noun = weights ? "weight" : records ? "record" : "tensor";
    std::string text;
    if (missing > 0) {
      text = fmt::format("{} of {}", thousands(missing), counted(met + missing, noun));
      if (unexpected > 0) text += fmt::format(", and {} unexpected", thousands(unexpected));
    } else if (unexpected > 0) {
      text = fmt::format("{} of {}", thousands(unexpected), counted(met + unexpected, noun));
    } else if (shapes > 0) {
      return fmt::format("{} of {}{}", thousands(shapes),
                         counted(verdict.coverage.paired, "tensor"), others);
    } else {
      return "copies of one tensor are not the same; the two sides' tensors are equal";
    }
    if (shapes > 0) text += fmt::format(", {} of another shape", thousands(shapes));
    return text + std::string(others);
  }
};

std::string sentence(const Verdict& verdict) {
  const std::int64_t paired = verdict.coverage.paired;
  switch (*verdict.outcome) {
    case Outcome::equal:
      return equal_sentence(verdict);
    case Outcome::noise:
      return fmt::format("{} of {} differ, all within their limits{}",
                         thousands(verdict.tally.of(Outcome::noise)), counted(paired, "tensor"),
                         tail(verdict));
    case Outcome::diverged: {
      const std::int64_t beyond = verdict.tally.of(Outcome::diverged);
      if (beyond == 0) return Unmet(verdict).sentence(verdict);
      const std::string only = terminal_text(
          part_alone(verdict.tensors, verdict.findings, paired, verdict.coverage.weights > 0));
      const bool borderline = verdict.tally.borderline == beyond;
      return fmt::format(
          "{} of {} beyond the limit{}{}{}", thousands(beyond), counted(paired, "tensor"),
          borderline ? " by less than twice: borderline" : "", only.empty() ? "" : ": ", only);
    }
    case Outcome::not_comparable:
      return verdict.reason == "undecided" && verdict.relation
                 ? message_text(verdict.relation->evidence)
                 : message_text(verdict.reason);
  }
  return "";
}

constexpr std::size_t kWidestPath = 40;  // longer ones do not push what follows aside

std::size_t path_columns(const std::optional<RunSummary>& run) {
  return run ? std::min(columns_of(terminal_text(run->path)), kWidestPath) : 0;
}

/// The path, and blanks up to where the words after it start.
std::string path_words(const RunSummary& run, std::size_t widest) {
  const std::string path = terminal_text(run.path);
  return path + std::string(widest - std::min(widest, columns_of(path)) + 2, ' ');
}

std::string heading(const Verdict& verdict) {
  switch (*verdict.outcome) {
    case Outcome::equal:
      return "EQUAL";
    case Outcome::noise:
      return "NOISE";
    case Outcome::diverged:
      return "DIVERGED";
    case Outcome::not_comparable:
      return verdict.reason == "undecided" ? "UNDECIDED" : "NOT COMPARABLE";
  }
  return "";
}

/// "EQUAL, with 1 error": what is wrong beside values that are right.
std::string headline(const Verdict& verdict) {
  if (*verdict.outcome == Outcome::diverged && verdict.tally.of(Outcome::diverged) == 0) {
    return std::string(Unmet(verdict).heading());
  }
  const std::int64_t errors = errors_beside(verdict);
  if (errors == 0) return heading(verdict);
  return fmt::format("{}, with {}", heading(verdict), counted(errors, "error"));
}

}  // namespace

std::int64_t errors_beside(const Verdict& verdict) {
  if (*verdict.outcome != Outcome::equal && *verdict.outcome != Outcome::noise) return 0;
  return std::ranges::count(verdict.findings, Severity::error, &Finding::severity);
}

std::string run_words(const RunSummary& run) {
  std::string text = terminal_text(run.format);
  const std::string mesh = mesh_words(run.mesh);
  if (!mesh.empty()) text += ", " + mesh;
  text += ", " + counted(run.tensors, "tensor") + ", " + short_bytes(run.bytes);
  if (run.steps.empty()) return text;
  return text + (run.steps.size() == 1 ? ", step " : ", steps ") + folded(run.steps);
}

std::string head_section(const Verdict& verdict, const ReportOptions& options) {
  const Paint paint(options.color);
  std::string text =
      fmt::format("{}  {}\n\n", paint.of(*verdict.outcome, headline(verdict)), sentence(verdict));
  const std::size_t widest =
      std::max(path_columns(verdict.reference), path_columns(verdict.candidate));
  for (const auto& [label, run] :
       {std::pair{"reference", &verdict.reference}, std::pair{"candidate", &verdict.candidate}}) {
    if (!*run) continue;
    text += labelled(label, path_words(**run, widest) + run_words(**run), options.width);
  }
  const bool differs = verdict.tally.of(Outcome::equal) < verdict.coverage.paired;
  if (verdict.relation && differs && !verdict.shown) {
    text += labelled("relation",
                     fmt::format("{}: {}", name(verdict.relation->kind),
                                 message_text(verdict.relation->evidence)),
                     options.width);
  }
  const std::string names = names_words(verdict);
  if (!names.empty()) text += labelled("names", names, options.width);
  return text;
}

}  // namespace ttcheck::reports
