// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/compare/stop.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/steps.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/model/summary.hpp"
#include "core/show/parts.hpp"
#include "core/show/show.hpp"
#include "core/verdict/conclude.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::show {
namespace {

std::vector<std::string> names_of(std::span<const Tensor> tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const Tensor& tensor : tensors) names.push_back(tensor.identity.name);
  return names;
}

/// The records of that name that the flags let pass, in causal order.
std::vector<const Tensor*> records_of(const diff::OpenedStep& step, const std::string& name,
                                      const Wanted& wanted) {
  std::vector<const Tensor*> records;
  for (const Tensor& tensor : step.assembly.tensors) {
    if (tensor.identity.name == name && wanted.admits(tensor.identity)) records.push_back(&tensor);
  }
  std::ranges::stable_sort(records, {}, [](const Tensor* one) {
    return std::tuple(one->identity.phase, one->identity.microbatch, one->identity.call);
  });
  return records;
}

/// A result that says what it is of, and nothing else.
TensorResult bare_result(const Tensor& tensor, std::optional<std::int64_t> step) {
  TensorResult row;
  row.step = step;
  row.identity = tensor.identity;
  row.kind = tensor.kind;
  row.dtype = row.candidate_dtype = tensor.dtype;
  row.shape = tensor.shape;
  row.trace = tensor.trace;
  return row;
}

void fill(const Tensor& tensor, diff::OpenedStep& step, int top, Verdict& verdict) {
  verdict.shown = parts_to_show(tensor);
  Shown& shown = *verdict.shown;
  for (Finding& finding : step.findings) {
    const bool own = finding.tensor == tensor.identity.name;
    if (own || (finding.tensor.empty() && finding.incomplete && !tensor.holes.empty())) {
      verdict.findings.push_back(std::move(finding));
    }
  }
  if (!tensor.stored) {
    shown.hints.push_back("its bytes were not stored");
    return;
  }
  try {
    shown.profile = profile_to_show({&tensor, nullptr}, {}, numbers_of(step.facts), top);
    shown.hints = hints_of(*shown.profile);
  } catch (const compare::Stopped&) {
    throw;
  } catch (const Error& error) {
    verdict::report_unread(tensor, error, verdict.tensors.front().step, verdict);
  }
}

}  // namespace

Verdict one(const Run& run, const std::optional<StepRange>& range, const Wanted& wanted, int top) {
  diff::require_steps(std::array{diff::NamedRun{run, "run"}}, range);
  Verdict verdict;
  verdict.reference = summary_of(run);
  const std::vector<std::size_t> steps = diff::steps_in_range(run, range);
  std::vector<std::string> names;  // of the newest step
  for (std::size_t n = steps.size(); n-- > 0;) {
    diff::OpenedStep step;
    try {
      step = diff::open_step(run, steps[n]);
    } catch (const Error& error) {
      if (steps.size() == 1) throw;
      verdict::report_unread_step(error, run.steps[steps[n]], verdict);
      continue;
    }
    const std::span<const Tensor> tensors = step.assembly.tensors;
    const std::vector<std::string> here = names_of(tensors);
    const auto name = wanted.among(here);
    const auto records = name ? records_of(step, *name, wanted) : std::vector<const Tensor*>();
    if (records.empty()) {
      if (names.empty()) names = here;
      continue;
    }
    const Tensor& tensor = *records.front();
    verdict.tensors.push_back(bare_result(tensor, run.steps[steps[n]]));
    verdict.reference->tensors = 1;
    verdict.reference->bytes = logical_bytes(tensor);
    verdict.coverage.bytes_unclaimed = step.bytes_unclaimed;
    fill(tensor, step, top, verdict);
    std::string& choice = verdict.shown->choice;
    if (steps.size() > 1) {
      choice = fmt::format("the newest of {} steps that has it", steps.size());
    }
    const std::string record = record_words(0, records.size(), tensor.identity);
    choice += choice.empty() || record.empty() ? record : "; " + record;
    break;
  }
  if (!verdict.shown) throw wanted.unknown(names, run.path);
  append(verdict.findings, run.close());
  verdict.coverage.bytes_read = run.bytes_read();
  verdict.complete = verdict::is_complete(verdict);
  return verdict;
}

}  // namespace ttcheck::show
