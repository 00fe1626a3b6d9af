#include "cli/manifest.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/interrupt.hpp"
#include "cli/manifest_file.hpp"
#include "cli/output.hpp"
#include "cli/side.hpp"
#include "cli/steps.hpp"
#include "core/assemble/assemble.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/hash.hpp"
#include "core/verdict/findings.hpp"
#include "reports/escape.hpp"

namespace ttcheck::cli {
namespace {

constexpr int kTrouble = 2;

/// One tensor of a step, hashed.
struct Hashed {
  Tensor tensor;
  ManifestEntry entry;
  std::optional<Error> error;
};

/// A step of the run, hashed, with what its reading found.
struct HashedStep {
  std::optional<std::int64_t> step;
  std::vector<Hashed> tensors;
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;
};

HashedStep hash_step(const Run& run, std::size_t index) {
  HashedStep hashed;
  hashed.step = run.steps[index];
  State state = run.open(index);
  std::vector<Fact> facts = run.facts;
  facts.insert(facts.end(), state.facts.begin(), state.facts.end());
  append(hashed.findings, std::move(state.findings));
  hashed.unreadable = state.unreadable;
  assemble::Assembly assembly = assemble::assemble(std::move(state), run.mesh, numbers_of(facts));
  append(hashed.findings, std::move(assembly.findings));
  hashed.unreadable += assembly.unreadable;
  hashed.tensors.resize(assembly.tensors.size());
  parallel_for(assembly.tensors.size(), [&](std::size_t i) {
    Hashed& one = hashed.tensors[i];
    one.tensor = std::move(assembly.tensors[i]);
    if (interrupted() != 0) return;
    try {
      if (!one.tensor.stored) throw Error("its bytes were not stored", {});
      if (one.tensor.undeclared) throw Error("nothing says how ranks hold it", {});
      one.entry = manifest_entry(one.tensor, compare::hash_of(one.tensor));
    } catch (const Error& error) {
      one.error = error;
    }
  });
  if (interrupted() != 0) throw Error("interrupted", {});
  return hashed;
}

void say(const std::string& what) {
  write_stderr(fmt::format("ttcheck: {}\n", reports::message_text(what)));
}

int write_manifest(const Options& options) {
  const Run run = open_side(options.words.at(0), Side::both, options);
  bool whole = true;
  const auto report = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (finding.severity != Severity::error && !finding.incomplete) continue;
      whole = whole && !finding.incomplete;
      say(Error(finding.message, finding.where.value_or(Where{})).what());
    }
  };
  report(run.findings);
  write_stdout(manifest_head());
  for (const std::size_t index : steps_in_range(run, options)) {
    const HashedStep step = hash_step(run, index);
    report(step.findings);
    whole = whole && step.unreadable == 0;
    std::string text;
    for (const Hashed& one : step.tensors) {
      if (one.error) {
        whole = false;
        say(one.tensor.identity.name + ": " + one.error->what());
        continue;
      }
      text += manifest_line(step.step, manifest_name(one.tensor.identity), one.entry);
    }
    write_stdout(text);
  }
  report(run.close());
  return whole ? 0 : kTrouble;
}

/// A finding about one tensor.
Finding about(const Hashed& one, std::optional<std::int64_t> step, Code code,
              const std::string& message) {
  Finding finding = verdict::note(code, step, message);
  finding.severity = Severity::error;
  finding.phase = one.tensor.identity.phase;
  finding.tensor = one.tensor.identity.name;
  if (!one.tensor.pieces.empty()) finding.where = one.tensor.pieces.front().where();
  return finding;
}

/// Compares a step with its part of the manifest, which loses the lines that were met.
void verify_step(HashedStep step, Manifest& expected, Verdict& verdict) {
  append(verdict.findings, std::move(step.findings));
  verdict.coverage.unreadable += step.unreadable;
  for (const Hashed& one : step.tensors) {
    ++verdict.candidate->tensors;
    verdict.candidate->bytes += logical_bytes(one.tensor);
    const std::string name = manifest_name(one.tensor.identity);
    const auto found = expected.extract({step.step, name});
    if (one.error) {
      ++verdict.coverage.unreadable;
      Finding finding = about(one, step.step, Code::unreadable, one.error->message());
      finding.incomplete = true;
      verdict.findings.push_back(std::move(finding));
    } else if (found.empty()) {
      ++verdict.coverage.only_candidate;
      verdict.findings.push_back(
          about(one, step.step, Code::unexpected, "the manifest does not have it"));
    } else {
      const ManifestEntry& entry = found.mapped();
      const Outcome outcome = entry == one.entry ? Outcome::equal : Outcome::diverged;
      ++verdict.tally.outcomes[static_cast<std::size_t>(outcome)];
      ++verdict.coverage.paired;
      verdict.coverage.bytes_compared += logical_bytes(one.tensor);
      if (entry == one.entry) continue;
      const bool hash = entry.dtype == one.entry.dtype && entry.shape == one.entry.shape;
      verdict.findings.push_back(about(
          one, step.step, hash ? Code::checksum : Code::shape_or_dtype,
          hash ? fmt::format("the manifest has {}, the values give {}", entry.hash, one.entry.hash)
               : fmt::format("the manifest has {} {}, the run {} {}", entry.dtype,
                             verdict::to_string(entry.shape), one.entry.dtype,
                             verdict::to_string(one.entry.shape))));
    }
  }
}

Verdict verify_manifest(const Options& options) {
  set_threads(options.threads);
  Manifest expected = read_manifest(options.verify);
  const Run run = open_side(options.words.at(0), Side::both, options);
  Verdict verdict;
  verdict.command = "manifest";
  verdict.argv = options.argv;
  verdict.reference = RunSummary{options.verify, "manifest", {}, {}, std::ssize(expected), 0};
  verdict.candidate = summary_of(run);
  verdict.findings = run.findings;
  for (const std::size_t index : steps_in_range(run, options)) {
    verify_step(hash_step(run, index), expected, verdict);
  }
  for (const auto& [key, entry] : expected) {
    const auto& [step, name] = key;
    if (options.steps && !options.steps->contains(step)) continue;
    ++verdict.coverage.only_reference;
    Finding finding = verdict::note(Code::missing, step, "only the manifest has it");
    finding.severity = Severity::error;
    finding.tensor = name;
    verdict.findings.push_back(std::move(finding));
  }
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  const auto wrong = [](const Finding& finding) {
    return finding.severity == Severity::error && !finding.incomplete;
  };
  verdict.complete = verdict.coverage.unreadable == 0;
  verdict.outcome = std::ranges::any_of(verdict.findings, wrong)      ? Outcome::diverged
                    : verdict.complete && verdict.coverage.paired > 0 ? Outcome::equal
                                                                      : Outcome::not_comparable;
  if (verdict.outcome == Outcome::not_comparable) {
    verdict.reason = verdict.complete ? "nothing was compared" : "incomplete";
  }
  return verdict;
}

}  // namespace

int manifest(const Options& options) {
  set_threads(options.threads);
  return options.verify.empty() ? write_manifest(options) : answer(options, verify_manifest);
}

}  // namespace ttcheck::cli
