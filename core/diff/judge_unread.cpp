#include "core/diff/judge_unread.hpp"

#include "core/diff/judge_by_manifest.hpp"
#include "core/diff/judge_without_bytes.hpp"
#include "core/diff/limits_context.hpp"
#include "core/diff/not_compared.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {

void judge_unread(MetStep& met, const DiffContext& context, Verdict& verdict) {
  Uncompared uncompared;
  std::optional<limits::LimitContext> known;
  const Tensor* first_alike = nullptr;  // with NaN or Inf on both sides
  std::int64_t alike = 0;
  for (const UnreadPair& unread : met.unread) {
    const auto& [left, right, compared] = met.pairs[unread.place];
    if (unread.by_manifest) {
      add_equal_by_manifest(met, unread.place, context, verdict);
      continue;
    }
    if (!known) known = context_of_records(met, context.memory.noise.apart);
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

}  // namespace ttcheck::diff
