// SPDX-License-Identifier: Apache-2.0
#include "core/manifest/list.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/name_filter.hpp"
#include "core/diff/named_states.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/steps.hpp"
#include "core/manifest/hashed.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/model/summary.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::manifest {
namespace {

ManifestHead head_of(const Run& run, const std::vector<Fact>& facts) {
  const Fact* const tied = find_fact(facts, "model.tied_embeddings");
  return {run.format, numbers_of(facts), tied != nullptr && tied->value == FactValue(true)};
}

void list_step(const Run& run, std::size_t index, const diff::DiffOptions& how,
               const NameFilter& wanted, const OnEntry& on_entry, Listed& listed) {
  diff::OpenedStep opened = diff::open_step(run, index);
  Verdict& verdict = listed.verdict;
  if (listed.head.format.empty()) listed.head = head_of(run, opened.facts);
  append(verdict.findings, std::move(opened.findings));
  verdict.coverage.unreadable += opened.unreadable;
  verdict.coverage.bytes_unclaimed += opened.bytes_unclaimed;
  std::vector<const Tensor*> tensors;
  for (const Tensor& tensor : opened.assembly.tensors) {
    if (wanted.admits(tensor.identity.name)) tensors.push_back(&tensor);
  }
  const std::vector<Hashed> hashed = hash_all(tensors);
  report(tensors, hashed, run.steps[index], run.mesh, how, verdict);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ++verdict.reference->tensors;
    verdict.reference->bytes += logical_bytes(*tensors[i]);
    if (!hashed[i].error) on_entry(run.steps[index], tensors[i]->identity, hashed[i].entry);
  }
}

}  // namespace

Listed list(const Run& run, const diff::DiffOptions& how, const OnEntry& on_entry) {
  const NameFilter wanted(how.names);
  Listed listed;
  Verdict& verdict = listed.verdict;
  verdict.reference = summary_of(run);
  verdict.findings = run.findings;
  append(verdict.findings, diff::named_note(run.named, {}));
  for (const std::size_t index : diff::steps_in_range(run, how.steps)) {
    try {
      list_step(run, index, how, wanted, on_entry, listed);
    } catch (const Error& error) {
      verdict::report_unread_step(error, run.steps[index], verdict);
    }
    if (interrupted() == 0) continue;
    verdict.findings.push_back(verdict::interruption("not everything was hashed"));
    break;
  }
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  verdict.complete = verdict::is_complete(verdict);
  return listed;
}

}  // namespace ttcheck::manifest
