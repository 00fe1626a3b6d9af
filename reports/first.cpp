// SPDX-License-Identifier: Apache-2.0
#include "reports/first.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/first_few.hpp"
#include "reports/escape.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// Whether a record is the one that `first` is of: others of its name are of another micro-batch or
/// call.
bool about_first(const Verdict& verdict, const Identity& one, std::optional<std::int64_t> step) {
  const Divergence& first = *verdict.first;
  return one.name == first.tensor && one.phase == first.phase && step == first.step &&
         one.call == first.call && one.microbatch == first.microbatch.value_or(one.microbatch);
}

bool about_first(const Verdict& verdict, const Finding& one) {
  return about_first(verdict, {one.tensor, one.phase, one.microbatch, one.call}, one.step);
}

/// Whether a finding may say what changed the tensors behind it: states of other steps, files that
/// are not there, counters, facts that shape the update.
bool may_cause(const Finding& finding) {
  switch (finding.code) {
    case Code::config:
    case Code::step_counter:
    case Code::mixed_step:
      return finding.severity != Severity::note;
    case Code::missing:
      return finding.severity == Severity::warning && finding.tensor.empty() && !finding.step;
    case Code::omission:
      return finding.severity != Severity::note && finding.tensor.empty();
    default:
      return false;
  }
}

/// Whether the finding is told of both sides alike, which is no difference.
bool is_told_twice(const Verdict& verdict, const Finding& one) {
  return std::ranges::count_if(verdict.findings, [&](const Finding& other) {
           return other.code == one.code && other.step == one.step && other.message == one.message;
         }) > 1;
}

}  // namespace

const TensorResult* result_of_first(const Verdict& verdict) {
  if (!verdict.first) return nullptr;
  const auto found = std::ranges::find_if(verdict.tensors, [&](const TensorResult& one) {
    return one.outcome() == Outcome::diverged && about_first(verdict, one.identity, one.step);
  });
  return found == verdict.tensors.end() ? nullptr : &*found;
}

const Finding* finding_of_first(const Verdict& verdict) {
  if (!verdict.first) return nullptr;
  const Finding* found = nullptr;
  for (const Finding& one : verdict.findings) {
    if (one.severity == Severity::note) continue;
    if (!about_first(verdict, one)) continue;
    if (!one.hypotheses.empty()) return &one;  // it says why
    if (found == nullptr) found = &one;
  }
  return found;
}

std::string other_roots(const Verdict& verdict) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (const ErrorRoot& root : verdict.roots) {
    if (about_first(verdict, root.identity, root.step)) continue;
    shown.push_back(reports::shown(root.identity));
  }
  const std::string few = first_few(shown, kShown);
  return shown.size() < 2
             ? few
             : fmt::format("{} that their inputs do not explain: {}", shown.size(), few);
}

std::vector<std::string> causes_before(const Verdict& verdict) {
  constexpr std::size_t kShown = 3;
  if (!verdict.first) return {};
  std::vector<std::string> words;
  std::size_t more = 0;
  for (const Finding& finding : verdict.findings) {
    if (about_first(verdict, finding)) break;
    if (!may_cause(finding) || is_told_twice(verdict, finding)) continue;
    if (words.size() == kShown && ++more > 0) continue;
    const std::string step = finding.step ? fmt::format("step {}: ", *finding.step) : "";
    words.push_back(
        fmt::format("{}{} ({})", step, message_text(finding.message), to_string(finding.code)));
  }
  if (more > 0) words.back() += fmt::format(", and {} more", more);
  return words;
}

}  // namespace ttcheck::reports
