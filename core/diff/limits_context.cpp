#include "core/diff/limits_context.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::size_t kAtOnce = 4096;  // pairs that one thread looks at

/// What some pairs tell the limits.
struct Observed {
  limits::LimitContext context;
  std::size_t counted = 0, equal = 0;  ///< pairs that tell whether the runs are copies
};

Observed observe(std::span<const compare::Pair> pairs,
                 std::span<const compare::Compared> compared) {
  Observed seen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Metrics& metrics = compared[i].metrics;
    limits::observe(seen.context, *pairs[i].reference);
    limits::observe(seen.context, *pairs[i].candidate);
    if (compared[i].error || metrics.reference_constant || pairs[i].mapped()) continue;
    if (compared[i].stopped && metrics.unequal_values == 0) continue;  // not known yet
    ++seen.counted;
    if (verdict::equal_under(*pairs[i].reference, *pairs[i].candidate, metrics)) ++seen.equal;
  }
  return seen;
}

}  // namespace

limits::LimitContext context_of_pairs(const MetStep& met) {
  limits::LimitContext context;
  context.trace = met.trace;
  for (const noise::RecordPair& pair : met.pairs) {
    limits::observe(context, *pair.reference);
    limits::observe(context, *pair.candidate);
  }
  return context;
}

std::pair<std::size_t, std::size_t> votes_of(const Work& work,
                                             std::span<const compare::Compared> compared) {
  const Observed seen = observe(work.pairs, compared);
  return {seen.counted, seen.equal};
}

limits::LimitContext context_of(const Work& work, std::span<const compare::Compared> compared,
                                bool trace) {
  const std::span<const compare::Pair> pairs = work.pairs;
  std::vector<Observed> parts((pairs.size() + kAtOnce - 1) / kAtOnce);
  parallel_for(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * kAtOnce;
    const std::size_t count = std::min(kAtOnce, pairs.size() - begin);
    parts[part] = observe(pairs.subspan(begin, count), compared.subspan(begin, count));
  });
  Observed all{work.known, work.known_counted, work.known_equal};
  for (const Observed& part : parts) {
    limits::join(all.context, part.context);
    all.counted += part.counted;
    all.equal += part.equal;
  }
  all.context.trace = trace;
  all.context.copies = all.counted > 0 && all.equal * 2 >= all.counted;
  all.context.nothing_to_count = all.counted == 0;
  return all.context;
}

}  // namespace ttcheck::diff
