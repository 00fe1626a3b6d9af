// SPDX-License-Identifier: Apache-2.0
#include "core/diff/unpaired_non_finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/name_filter.hpp"
#include "core/diff/compare_all.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

bool tells_non_finite(const TraceRecord* record) {
  if (record == nullptr || !record->stats || record->stats->numel == 0) return false;
  const StoredStats& stats = *record->stats;
  const auto wrong = [](const std::optional<double>& x) { return x && !std::isfinite(*x); };
  return stats.nan.value_or(0) > 0 || stats.inf.value_or(0) > 0 || wrong(stats.min) ||
         wrong(stats.max) || wrong(stats.mean) || wrong(stats.l2) || wrong(stats.l1);
}

/// Whether what any rank stored of its values tells NaN or Inf.
bool tells_non_finite(const Tensor& tensor) {
  return tells_non_finite(tensor.trace.get()) ||
         std::ranges::any_of(tensor.recorded, [](const auto& of_rank) {
           return tells_non_finite(of_rank.second.get());
         });
}

/// The candidate's tensors that no filter of the user leaves out, of kinds too that the reference
/// lacks.
std::vector<const Tensor*> wanted_of(std::span<const Tensor> candidate, const NameGlobs& names) {
  const NameFilter filter(names);
  std::vector<const Tensor*> wanted;
  for (const Tensor& tensor : candidate) {
    if (filter.admits(tensor.identity.name)) wanted.push_back(&tensor);
  }
  return wanted;
}

/// Those of these tensors that have NaN or Inf, by their bytes.
std::vector<const Tensor*> with_non_finite(const std::vector<compare::Pair>& unread,
                                           std::optional<std::int64_t> step, const DiffOptions& how,
                                           Verdict& verdict) {
  std::vector<const Tensor*> found;
  const auto compared = compare_all(unread, how);
  for (std::size_t i = 0; i < unread.size(); ++i) {
    if (compared[i].error) verdict::report_unread_step(*compared[i].error, step, verdict);
    if (compared[i].metrics.candidate.any()) found.push_back(unread[i].candidate);
  }
  return found;
}

}  // namespace

bool unpaired_non_finite(const MetStep& met, const DiffOptions& how, Verdict& verdict) {
  std::set<const Tensor*> paired;
  for (const compare::Pair& pair : met.work.pairs) paired.insert(pair.candidate);
  std::vector<const Tensor*> found;
  std::vector<compare::Pair> unread;
  for (const Tensor* tensor : wanted_of(met.candidate(), how.names)) {
    if (tells_non_finite(*tensor)) {
      found.push_back(tensor);
    } else if (tensor->stored && !paired.contains(tensor)) {
      unread.push_back({tensor, tensor});  // with itself: what it holds, counted
    }
  }
  const auto read = with_non_finite(unread, met.step, how, verdict);
  found.insert(found.end(), read.begin(), read.end());
  if (found.empty()) return false;
  const Identity& first = found.front()->identity;
  Finding finding = verdict::note(
      Code::non_finite, met.step,
      fmt::format("tensors of the candidate that hold NaN or Inf beside those that were compared "
                  "with the reference's: {}",
                  found.size()));
  finding.phase = first.phase;
  finding.op = std::string(module_of(first));
  finding.tensor = first.name;
  verdict.findings.push_back(std::move(finding));
  return true;
}

}  // namespace ttcheck::diff
