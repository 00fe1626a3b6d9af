// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/diff_options.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/manifest_file.hpp"
#include "cli/open.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/name_filter.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/hash.hpp"
#include "core/diff/compare_all.hpp"
#include "core/diff/named_states.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/steps.hpp"
#include "core/model/summary.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"
#include "reports/escape.hpp"

namespace ttcheck::cli {
namespace {

/// One tensor of a step, hashed.
struct Hashed {
  Tensor tensor;
  ManifestEntry entry;
  std::optional<Error> error;
};

/// Says of tensors that several ranks hold where their copies differ: a hash is of the lowest
/// rank's.
void check_copies(std::span<const Hashed> hashed, std::optional<std::int64_t> step,
                  const Options& options, const Mesh& mesh, Verdict& verdict) {
  std::vector<compare::Pair> pairs;
  for (const Hashed& one : hashed) {
    const bool copied = !one.tensor.replicas.empty() || !one.tensor.term_replicas.empty();
    if (copied && !one.error) pairs.push_back({&one.tensor, &one.tensor});
  }
  const std::vector<compare::Compared> compared = diff::compare_all(pairs, diff_options(options));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (compared[i].error)
      verdict::report_unread(*pairs[i].reference, *compared[i].error, step, verdict);
    if (compared[i].candidate_differs.empty()) continue;
    verdict.findings.push_back(verdict::replica_finding(
        *pairs[i].reference, step, compared[i].candidate_differs, mesh, "run"));
  }
}

/// Reads a step and hashes its tensors; what cannot be read is said in `verdict`.
std::vector<Hashed> hash_step(const Run& run, std::size_t index, const Options& options,
                              const NameFilter& wanted, Verdict& verdict) {
  diff::OpenedStep opened = diff::open_step(run, index);
  append(verdict.findings, std::move(opened.findings));
  verdict.coverage.unreadable += opened.unreadable;
  verdict.coverage.bytes_unclaimed += opened.bytes_unclaimed;
  assemble::Assembly& assembly = opened.assembly;
  std::erase_if(assembly.tensors,
                [&](const Tensor& tensor) { return !wanted.admits(tensor.identity.name); });
  std::vector<Hashed> hashed(assembly.tensors.size());
  parallel_for(hashed.size(), [&](std::size_t i) {
    Hashed& one = hashed[i];
    one.tensor = std::move(assembly.tensors[i]);
    try {
      if (interrupted() != 0) throw Error("interrupted", {});
      if (!one.tensor.stored) throw Error("its bytes were not stored", {});
      if (one.tensor.undeclared) throw Error("nothing says how ranks hold it", {});
      one.entry = manifest_entry(one.tensor, compare::hash_of(one.tensor));
    } catch (const Error& error) {
      one.error = error;
    }
  });
  const std::optional<std::int64_t> step = run.steps[index];
  for (const Hashed& one : hashed) {
    if (one.error) verdict::report_unread(one.tensor, *one.error, step, verdict);
    ++verdict.candidate->tensors;
    verdict.candidate->bytes += logical_bytes(one.tensor);
  }
  check_copies(hashed, step, options, run.mesh, verdict);
  return hashed;
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
void verify_step(std::span<const Hashed> hashed, std::optional<std::int64_t> step,
                 Manifest& expected, Verdict& verdict) {
  for (const Hashed& one : hashed) {
    const auto found = expected.extract({step, manifest_name(one.tensor.identity)});
    if (one.error) continue;
    if (found.empty()) {
      ++verdict.coverage.only_candidate;
      verdict.findings.push_back(
          about(one, step, Code::unexpected, "the manifest does not have it"));
      continue;
    }
    const ManifestEntry& entry = found.mapped();
    const Outcome outcome = entry == one.entry ? Outcome::equal : Outcome::diverged;
    ++verdict.tally.outcomes[static_cast<std::size_t>(outcome)];
    ++verdict.coverage.paired;
    verdict.coverage.bytes_compared += logical_bytes(one.tensor);
    if (outcome == Outcome::equal) continue;
    const bool hash = entry.dtype == one.entry.dtype && entry.shape == one.entry.shape;
    verdict.findings.push_back(about(
        one, step, hash ? Code::checksum : Code::shape_or_dtype,
        hash ? fmt::format("the manifest has {}, the values give {}", entry.hash, one.entry.hash)
             : fmt::format("the manifest has {} {}, the run {} {}", entry.dtype,
                           verdict::to_string(entry.shape), one.entry.dtype,
                           verdict::to_string(one.entry.shape))));
  }
}

/// What the manifest has of the steps and names that were asked for, and the run has not.
void report_missing(const Manifest& left, const Options& options, const NameFilter& wanted,
                    Verdict& verdict) {
  for (const auto& [key, entry] : left) {
    const auto& [step, name] = key;
    if (options.steps && !options.steps->contains(step)) continue;
    if (!wanted.admits(tensor_of(name))) continue;
    ++verdict.coverage.only_reference;
    Finding finding = verdict::note(Code::missing, step, "only the manifest has it");
    finding.severity = Severity::error;
    finding.tensor = name;
    verdict.findings.push_back(std::move(finding));
  }
}

void conclude(Verdict& verdict) {
  const auto incomplete = [](const Finding& finding) { return finding.incomplete; };
  const auto wrong = [](const Finding& finding) {
    return finding.severity == Severity::error && !finding.incomplete;
  };
  verdict.complete =
      verdict.coverage.unreadable == 0 && std::ranges::none_of(verdict.findings, incomplete);
  if (verdict.reference->format != "manifest") return;
  if (std::ranges::any_of(verdict.findings, wrong)) {
    verdict.outcome = Outcome::diverged;
  } else if (verdict.complete && verdict.coverage.paired > 0) {
    verdict.outcome = Outcome::equal;
  } else {
    verdict.outcome = Outcome::not_comparable;
    verdict.reason = verdict.complete ? "nothing was compared" : "incomplete";
  }
}

}  // namespace

Verdict manifest(const Options& options) {
  if (options.verify.empty() == options.write.empty()) {
    throw Usage("manifest: expected --write FILE or --verify FILE");
  }
  if (!options.maps.empty()) throw Usage("manifest: --map means nothing here");
  set_threads(options.threads);
  const bool verify = !options.verify.empty();
  Manifest expected;
  if (verify) expected = read_manifest(options.verify);
  const Run run = open_side(options.words.at(0), Side::both, options);
  diff::require_steps(std::array{diff::NamedRun{run, "run"}}, options.steps);
  const NameFilter wanted({options.include, options.exclude});
  Verdict verdict;
  verdict.command = "manifest";
  verdict.argv = options.argv;
  verdict.candidate = summary_of(run);
  verdict.findings = run.findings;
  append(verdict.findings, diff::named_note(run.named, {}));
  std::string text = manifest_head();
  for (const std::size_t index : diff::steps_in_range(run, options.steps)) {
    const std::optional<std::int64_t> step = run.steps[index];
    try {
      const std::vector<Hashed> hashed = hash_step(run, index, options, wanted, verdict);
      if (verify) verify_step(hashed, step, expected, verdict);
      for (const Hashed& one : hashed) {
        if (verify || one.error) continue;
        text += manifest_line(step, manifest_name(one.tensor.identity), one.entry);
      }
    } catch (const Error& error) {
      verdict::report_unread_step(error, step, verdict);
      std::erase_if(expected, [&](const auto& line) { return line.first.first == step; });
    }
    if (interrupted() == 0) continue;
    verdict.findings.push_back(verdict::interruption("not everything was hashed"));
    break;
  }
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  if (verify) {
    if (interrupted() == 0) report_missing(expected, options, wanted, verdict);
    verdict.findings.push_back(verdict::note(
        Code::checksum, {},
        "the hashes are XXH3-64: they show what went wrong, not what was made to look right"));
    verdict.reference = RunSummary{options.verify, "manifest", {}, {}, 0, 0};
  } else {
    if (interrupted() == 0) {
      write_output(options, options.write, text);
      if (options.verbose >= 0) {
        write_stderr(fmt::format("ttcheck: {}: hashes of {} tensors written\n",
                                 reports::terminal_text(options.write),
                                 verdict.candidate->tensors));
      }
    }
    verdict.reference = std::exchange(verdict.candidate, std::nullopt);
  }
  conclude(verdict);
  return verdict;
}

}  // namespace ttcheck::cli
