// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_unread.hpp"

#include <algorithm>
#include <iterator>

#include "core/diff/judge_by_manifest.hpp"
#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_without_bytes.hpp"
#include "core/diff/limits_context.hpp"
#include "core/diff/not_compared.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {

namespace {

/// Judges what is reported, or the evidence alone.
void judge_some(MetStep& met, bool evidence, const DiffContext& context, Verdict& verdict) {
  Uncompared uncompared;
  std::optional<limits::LimitContext> known;
  const Tensor* first_alike = nullptr;  // with NaN or Inf on both sides
  std::int64_t alike = 0;
  for (const UnreadPair& unread : met.unread) {
    if (met.is_evidence(unread.place) != evidence) continue;
    const auto& [left, right, compared] = met.pairs[unread.place];
    if (unread.by_manifest) {
      add_equal_by_manifest(met, unread.place, context, verdict);
      continue;
    }
    if (!known) {
      known = context_of_pairs(met);
      known->trace = true;
      known->apart = context.memory.noise.apart;
    }
    const Limit limit = limits::limit_for(*left, *right, *known, context.limits());
    try {
      const bool same = judge_unstored(met, unread.place, limit, uncompared, verdict);
      if (same && alike++ == 0) first_alike = left;
    } catch (const Error& error) {
      verdict::report_unread(*left, error, met.step, verdict);
    }
  }
  uncompared.report(met.step, verdict);
  if (alike > 0) verdict.findings.push_back(alike_note(*first_alike, alike, met.step));
}

}  // namespace

void judge_unread(MetStep& met, const DiffContext& context, Verdict& verdict) {
  judge_some(met, false, context, verdict);
  if (met.trace) return;
  for (const UnreadPair& unread : met.unread) {
    if (unread.by_manifest && met.is_evidence(unread.place)) {
      know_equal_by_manifest(met, unread.place, context);
    }
  }
}

void judge_evidence(MetStep& met, DiffContext& context, Verdict& verdict) {
  if (met.evidence.empty() || !met.trace) return;
  Verdict unsaid;
  unsaid.reference = verdict.reference;
  unsaid.candidate = verdict.candidate;
  judge_some(met, true, context, unsaid);
  if (!met.unreported.pairs.empty()) {
    judge_all(met.unreported, met.trace, met.steps, context, unsaid);
  }
  std::ranges::move(unsaid.tensors, std::back_inserter(verdict.tensors));
}

void drop_evidence(const MetStep& met, std::size_t first, Verdict& verdict) {
  if (met.evidence.empty()) return;
  const auto begin = verdict.tensors.begin() + static_cast<std::ptrdiff_t>(first);
  verdict.tensors.erase(
      std::remove_if(begin, verdict.tensors.end(),
                     [&](const TensorResult& one) { return met.is_evidence(one.pair); }),
      verdict.tensors.end());
}

}  // namespace ttcheck::diff
