#include "core/diff/compare_until_bad.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "core/diff/compare_all.hpp"
#include "core/diff/limits_context.hpp"
#include "core/limits/limits.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/noise/passed_on.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::uint64_t kParts = 16;  ///< of a step's bytes

/// Of a trace, what noise of gradients may have moved (core/noise/updates, core/noise/calls), or is
/// made of (core/noise/gradients), is judged at the end.
bool may_settle(const MetStep& met, const Tensor& tensor) {
  const Phase phase = tensor.identity.phase;
  const bool moved = phase == Phase::state || phase == Phase::optimizer;
  return met.trace &&
         ((is_parameter(tensor.kind) && moved) ||
          (tensor.trace && !tensor.trace->counted.base.empty()) ||
          (phase == Phase::forward && tensor.kind == Kind::output) ||
          (noise::is_slope(tensor.kind) && noise::weight_place(noise::parameter_place(tensor))));
}

/// Under the model a relative error decides by itself; a copy is held to less.
bool surely_beyond(const compare::Compared& found, const Limit& limit) {
  if (found.error || found.stopped) return false;
  if (verdict::part_decides(found.metrics, limit)) return true;
  return limit.kind == LimitKind::model && found.metrics.rel() > limit.rel;
}

/// What earlier steps left apart may have made it so.
bool by_little(const compare::Compared& found, const Limit& limit) {
  return found.metrics.non_finite_disagree == 0 && limit.kind == LimitKind::model &&
         found.metrics.rel() <= noise::kLittle * limit.rel;
}

}  // namespace

std::optional<std::vector<compare::Compared>> compare_until_bad(const MetStep& met,
                                                                const DiffContext& diff) {
  const std::span<const compare::Pair> pairs = met.work.pairs;
  limits::LimitContext context = context_of_records(met, diff.memory.noise.apart);
  context.trace = met.trace;
  // Whatever the rest are, half of all are equal.
  const bool copies = !met.trace && met.work.known_equal >= pairs.size();
  std::set<std::size_t> open;  // pairs that may be compared in another way
  for (const Alternative& other : met.work.alternatives) open.insert(other.pair);

  std::uint64_t total = 0;
  for (const compare::Pair& pair : pairs) total += logical_bytes(*pair.reference);
  bool little = false;  // what is beyond behind it may follow from it
  std::vector<compare::Compared> all;
  all.reserve(pairs.size());
  for (std::size_t begin = 0; begin < pairs.size();) {
    std::size_t end = begin;
    for (std::uint64_t bytes = 0; end < pairs.size() && bytes <= total / kParts; ++end) {
      bytes += logical_bytes(*pairs[end].reference);
    }
    std::vector<compare::Compared> part = compare_all(pairs.subspan(begin, end - begin), diff.how);
    for (std::size_t i = begin; i < end; ++i) {
      const compare::Pair& pair = pairs[i];
      context.copies = copies && !pair.mapped();
      const Limit limit =
          limits::limit_for(*pair.reference, *pair.candidate, context, diff.how.limits);
      if (open.contains(i) || !surely_beyond(part[i - begin], limit)) continue;
      little = little || (met.trace && by_little(part[i - begin], limit));
      if (!little && !may_settle(met, *pair.reference)) return std::nullopt;
    }
    std::ranges::move(part, std::back_inserter(all));
    begin = end;
  }
  return all;
}

}  // namespace ttcheck::diff
