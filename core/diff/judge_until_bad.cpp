// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_until_bad.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/diff/judge_pairs.hpp"
#include "core/diff/judge_together.hpp"
#include "core/locate/first.hpp"
#include "core/noise/calls.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::uint64_t kParts = 16;  ///< of a step's bytes

/// The end of the part of all bytes that begins at `begin`.
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

/// How far all tensors are apart tells what each may be: none is known before all are, but what a
/// second pass would find of a bad one is left.
bool judge_checkpoint(MetStep& met, DiffContext& context, Verdict& verdict) {
  judge_all(met.work, false, met.steps, context, verdict, met.unreported);
  return !context.told.bad;
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
