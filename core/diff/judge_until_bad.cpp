#include "core/diff/judge_until_bad.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/diff/compared_once.hpp"
#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_together.hpp"
#include "core/diff/limits_context.hpp"
#include "core/locate/first.hpp"
#include "core/noise/calls.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::uint64_t kParts = 16;  ///< of a step's bytes

/// Where the part that begins there ends.
std::size_t end_of_part(std::span<const compare::Pair> pairs, std::size_t begin,
                        std::uint64_t total) {
  std::size_t end = begin;
  for (std::uint64_t bytes = 0; end < pairs.size() && bytes <= total / kParts; ++end) {
    bytes += 2 * logical_bytes(*pairs[end].reference);
  }
  return end;
}

std::vector<std::size_t> indices(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> all(end - begin);
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// Of checkpoints: under the model a relative error decides by itself; a copy is held to less.
bool surely_beyond(const compare::Compared& found, const Limit& limit) {
  if (!found.whole()) return false;
  if (verdict::part_decides(found.metrics, limit)) return true;
  return limit.kind == LimitKind::model && found.metrics.rel() > limit.rel;
}

bool judge_checkpoint(MetStep& met, DiffContext& context, Verdict& verdict) {
  const std::span<const compare::Pair> pairs = met.work.pairs;
  limits::LimitContext known = context_of_pairs(met);
  // Whatever the rest are, half of all are equal.
  const bool copies = met.work.known_equal >= pairs.size() + met.unreported.pairs.size();
  const std::vector<char> open = with_other_ways(met.work);
  const std::uint64_t total = bytes_of(met.work);
  std::vector<compare::Compared> all;
  all.reserve(pairs.size());
  for (std::size_t begin = 0; begin < pairs.size();) {
    const std::size_t end = end_of_part(pairs, begin, total);
    std::vector<compare::Compared> part =
        compare_work(some_of(met.work, indices(begin, end)), met.steps, context);
    for (std::size_t i = begin; i < end; ++i) {
      known.copies = copies && !pairs[i].mapped();
      const Limit limit =
          limits::limit_for(*pairs[i].reference, *pairs[i].candidate, known, context.how.limits);
      if (open[i] == 0 && surely_beyond(part[i - begin], limit)) return false;
    }
    std::ranges::move(part, std::back_inserter(all));
    begin = end;
  }
  judge_compared(met.work, std::move(all), false, met.steps, context, verdict, met.unreported);
  return true;
}

/// The first step may show that nothing can be compared, and dumps of calls tell of a module's
/// output by calls behind it: nothing is known then before all is.
bool needs_all(const MetStep& met, const DiffContext& context) {
  return context.memory.first_step || std::ranges::any_of(met.reference(), noise::is_call_in_place);
}

bool judge_trace(MetStep& met, DiffContext& context, Verdict& verdict) {
  if (needs_all(met, context)) {
    judge_all(met.work, true, met.steps, context, verdict);
    return true;
  }
  const std::uint64_t total = bytes_of(met.work);
  const std::size_t before = verdict.tensors.size();
  for (std::size_t begin = 0; begin < met.work.pairs.size();) {
    const std::size_t end = end_of_part(met.work.pairs, begin, total);
    const std::vector<std::size_t> wanted = indices(begin, end);
    Work part = some_of(met.work, wanted);
    judge_all(part, true, met.steps, context, verdict);
    put_back(part, wanted, met.work);
    const auto results = std::span(verdict.tensors).subspan(before);
    if (locate::first_diverged(results)) {
      excuse_by_chance(met, results, context);
      if (locate::first_diverged(results)) return false;
    }
    begin = end;
  }
  return true;
}

}  // namespace

bool judge_until_bad(MetStep& met, DiffContext& context, Verdict& verdict) {
  return met.trace ? judge_trace(met, context, verdict) : judge_checkpoint(met, context, verdict);
}

}  // namespace ttcheck::diff
