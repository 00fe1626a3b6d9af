// SPDX-License-Identifier: Apache-2.0
#include "core/diff/named_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/first_few.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::diff {
namespace {

std::string names_of(std::span<const NamedState> states) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> names;
  for (const NamedState& one : states) names.push_back(one.name);
  return first_few(names, kMostNamed);
}

/// Those of `states` without a namesake in `others`.
std::vector<NamedState> alone(std::span<const NamedState> states,
                              std::span<const NamedState> others) {
  std::vector<NamedState> left;
  std::ranges::copy_if(states, std::back_inserter(left),
                       [&](const NamedState& one) { return namesake(one, others) == nullptr; });
  return left;
}

Finding alone_note(std::span<const NamedState> states, std::string_view side, Code code,
                   std::optional<std::int64_t> step) {
  return verdict::note(code, step,
                       fmt::format("beside the {} alone, each a state of its own, which was "
                                   "compared with nothing: {}",
                                   side, names_of(states)));
}

void put_before(std::string& name, const std::string& prefix) {
  if (!name.empty()) name = prefix + "." + name;
}

/// What of `part` names a tensor gets the state's name, and the step that it lies beside.
void put_name(const std::string& name, std::optional<std::int64_t> step, Verdict& part) {
  for (TensorResult& result : part.tensors) {
    put_before(result.identity.name, name);
    put_before(result.candidate_name, name);
    if (!result.step) result.step = step;
  }
  for (Finding& finding : part.findings) {
    if (finding.tensor.empty()) finding.message = fmt::format("{}: {}", name, finding.message);
    put_before(finding.tensor, name);
    put_before(finding.candidate_tensor, name);
    put_before(finding.op, name);
    if (!finding.step) finding.step = step;
  }
  for (ErrorRoot& root : part.roots) {
    put_before(root.identity.name, name);
    if (!root.step) root.step = step;
  }
  for (FactResult& fact : part.facts) put_before(fact.name, name);
  for (Rename& rename : part.renames) {
    put_before(rename.reference, name);
    put_before(rename.candidate, name);
  }
  if (!part.first) return;
  put_before(part.first->tensor, name);
  put_before(part.first->op, name);
  if (!part.first->step) part.first->step = step;
}

template <class T>
void move_behind(std::vector<T>& all, std::vector<T>& some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

void add_summary(const std::optional<RunSummary>& part, std::optional<RunSummary>& all) {
  if (!part || !all) return;
  all->tensors += part->tensors;
  all->bytes += part->bytes;
}

void add(Verdict&& part, Verdict& all) {
  move_behind(all.tensors, part.tensors);
  move_behind(all.findings, part.findings);
  move_behind(all.roots, part.roots);
  move_behind(all.facts, part.facts);
  move_behind(all.renames, part.renames);
  verdict::add_tally(part.tally, all.tally);
  verdict::add_coverage(part.coverage, all.coverage);
  add_summary(part.reference, all.reference);
  add_summary(part.candidate, all.candidate);
  if (!all.first) all.first = std::move(part.first);
}

}  // namespace

const NamedState* namesake(const NamedState& one, std::span<const NamedState> others) {
  const auto found = std::ranges::find(others, one.name, &NamedState::name);
  return found == others.end() ? nullptr : &*found;
}

void add_named(const std::string& name, std::optional<std::int64_t> step, Verdict&& part,
               Verdict& all) {
  put_name(name, step, part);
  add(std::move(part), all);
}

void note_alone(std::span<const NamedState> reference, std::span<const NamedState> candidate,
                std::optional<std::int64_t> step, Severity severity, Verdict& verdict) {
  const auto note_side = [&](const std::vector<NamedState>& states, std::string_view side,
                             Code code) {
    if (states.empty()) return;
    verdict.findings.push_back(alone_note(states, side, code, step));
    verdict.findings.back().severity = severity;
  };
  note_side(alone(reference, candidate), "reference", Code::missing);
  note_side(alone(candidate, reference), "candidate", Code::unexpected);
}

void require_namesakes(const Run& run, const Run& other) {
  if (!run.several) return;
  if (other.several && alone(run.named, other.named).size() < run.named.size()) return;
  throw Error("several runs could be meant, name one: " + names_of(run.named), {run.path, {}, {}})
      .because("several-runs");
}

std::vector<Finding> named_note(std::span<const NamedState> states,
                                std::optional<std::int64_t> step) {
  if (states.empty()) return {};
  return {verdict::note(Code::unexpected, step,
                        fmt::format("beside it, each a state of its own and not part of this: {}",
                                    names_of(states)))};
}

}  // namespace ttcheck::diff
