// SPDX-License-Identifier: Apache-2.0
#include "core/show/inventory.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/base/index_table.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/base/until_exit.hpp"
#include "core/diff/named_states.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/steps.hpp"
#include "core/model/summary.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::show {
namespace {

/// What a step holds goes to the summary, its tensors as bare rows.
std::shared_ptr<diff::OpenedStep> add_step(const Run& run, std::size_t index, IndexTable& names,
                                           Verdict& verdict) {
  auto held = std::make_shared<diff::OpenedStep>(diff::open_step(run, index));
  const std::optional<std::int64_t> step = run.steps[index];
  if (!step && !held->stated.empty()) verdict.reference->steps = {held->stated[0].step};
  verdict.coverage.bytes_unclaimed += held->bytes_unclaimed;
  verdict.coverage.unreadable += held->unreadable;
  append(verdict.findings, std::move(held->findings));
  verdict.facts.clear();
  for (const Fact& fact : held->facts) {
    if (fact.assumed) continue;
    verdict.facts.push_back({fact.name, fact.value, std::nullopt, "only-reference"});
  }
  std::vector<Tensor>& tensors = held->assembly.tensors;
  if (verdict.tensors.empty()) verdict.tensors.reserve(tensors.size());
  for (Tensor& tensor : tensors) {
    const std::string& name = tensor.identity.name;
    const auto same = [&](std::uint32_t row) { return verdict.tensors[row].identity.name == name; };
    const auto row_to_be = static_cast<std::uint32_t>(verdict.tensors.size());
    if (!names.find_or_add(NameHash{}(name), row_to_be, same)) {
      ++verdict.reference->tensors;
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
  return held;
}

}  // namespace

Verdict inventory(const Run& run, const std::optional<StepRange>& asked, bool all) {
  Verdict verdict;
  verdict.command = "info";
  verdict.reference = summary_of(run);
  verdict.findings = run.findings;
  append(verdict.findings, diff::named_note(run.named, {}));

  // Of a series the newest step stands for all, unless some were asked for.
  std::vector<std::size_t> steps = diff::steps_in_range(run, asked);
  if (!all && !asked && steps.size() > 1) steps = {steps.back()};
  IndexTable names;  // of rows
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (interrupted() != 0) {
      verdict.findings.push_back(verdict::interruption(
          fmt::format("{} of {} steps were not read", steps.size() - i, steps.size())));
      break;
    }
    try {
      std::shared_ptr<diff::OpenedStep> held = add_step(run, steps[i], names, verdict);
      if (i + 1 == steps.size()) keep_until_exit(std::move(held));
    } catch (const Error& error) {
      if (steps.size() == 1) throw;
      verdict::report_unread_step(error, run.steps[steps[i]], verdict);
    }
  }
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  verdict.complete = verdict::is_complete(verdict);
  return verdict;
}

}  // namespace ttcheck::show
