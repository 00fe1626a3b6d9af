#include "cli/info.hpp"

#include <fmt/format.h>

#include <set>

#include "cli/interrupt.hpp"
#include "cli/leftovers.hpp"
#include "cli/side.hpp"
#include "cli/steps.hpp"
#include "core/assemble/assemble.hpp"
#include "core/base/parallel.hpp"

namespace ttcheck::cli {
namespace {

/// What a step holds goes to the summary, its tensors as bare rows.
void add_step(const Run& run, std::size_t index, std::set<std::string>& names, Verdict& verdict) {
  State state = run.open(index);
  const std::optional<std::int64_t> step = run.steps[index];
  verdict.coverage.bytes_unclaimed += state.bytes_unclaimed;
  verdict.coverage.unreadable += state.unreadable;
  append(verdict.findings, std::move(state.findings));
  std::vector<Fact> facts = run.facts;
  facts.insert(facts.end(), state.facts.begin(), state.facts.end());
  verdict.facts.clear();
  for (const Fact& fact : facts) {
    verdict.facts.push_back({fact.name, fact.value, std::nullopt, "only-reference"});
  }
  assemble::Assembly assembly = assemble::assemble(std::move(state), run.mesh, numbers_of(facts));
  append(verdict.findings, std::move(assembly.findings));
  verdict.coverage.unreadable += assembly.unreadable;
  for (Tensor& tensor : assembly.tensors) {
    if (names.insert(tensor.identity.name).second) {
      verdict.reference->bytes += logical_bytes(tensor);
    }
    TensorResult row;
    row.step = step;
    row.kind = tensor.kind;
    row.dtype = row.candidate_dtype = tensor.dtype;
    row.shape = std::move(tensor.shape);
    row.identity = std::move(tensor.identity);
    row.trace = std::move(tensor.trace);
    verdict.tensors.push_back(std::move(row));
  }
}

}  // namespace

Verdict info(const Options& options) {
  set_threads(options.threads);
  const Run run = open_side(options.words.at(0), Side::both, options);
  Verdict verdict;
  verdict.command = "info";
  verdict.argv = options.argv;
  verdict.reference = summary_of(run);
  verdict.findings = run.findings;

  // Of a series the newest step stands for all, unless some were asked for.
  std::vector<std::size_t> steps = steps_in_range(run, options);
  if (!options.all && !options.steps && steps.size() > 1) steps = {steps.back()};
  std::set<std::string> names;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (interrupted() != 0) {
      verdict.findings.push_back(interruption(
          fmt::format("{} of {} steps were not read", steps.size() - i, steps.size())));
      break;
    }
    try {
      add_step(run, steps[i], names, verdict);
    } catch (const Error& error) {
      if (steps.size() == 1) throw;
      report_unread_step(error, run.steps[steps[i]], verdict);
    }
  }
  verdict.reference->tensors = static_cast<std::int64_t>(names.size());
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  verdict.complete = verdict.coverage.unreadable == 0;
  for (const Finding& finding : verdict.findings) {
    if (finding.incomplete) verdict.complete = false;
  }
  return verdict;
}

}  // namespace ttcheck::cli
