#include <fmt/format.h>

#include <algorithm>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

std::string equal_sentence(const Verdict& verdict) {
  std::int64_t cast = 0;
  for (const auto& [name, count] : verdict.tally.casts) cast += count;
  const std::string all = counted(verdict.coverage.paired, "tensor");
  if (cast == 0) return fmt::format("{} compared, all equal bit for bit", all);
  return fmt::format("{} compared, all equal; {} of them after a cast", all, thousands(cast));
}

std::string sentence(const Verdict& verdict) {
  const std::int64_t paired = verdict.coverage.paired;
  switch (*verdict.outcome) {
    case Outcome::equal:
      return equal_sentence(verdict);
    case Outcome::noise:
      return fmt::format("{} of {} differ, all within their limits",
                         thousands(verdict.tally.of(Outcome::noise)), counted(paired, "tensor"));
    case Outcome::diverged: {
      const std::int64_t beyond = verdict.tally.of(Outcome::diverged);
      return beyond == 0 ? "the two do not hold the same tensors"
                         : fmt::format("{} of {} beyond the limit", thousands(beyond),
                                       counted(paired, "tensor"));
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
  return text;
}

}  // namespace ttcheck::reports
