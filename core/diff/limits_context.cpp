// SPDX-License-Identifier: Apache-2.0
#include "core/diff/limits_context.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parallel.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::size_t kAtOnce = 4096;  // pairs that one thread looks at

}  // namespace

limits::LimitContext context_of_pairs(const MetStep& met) {
  limits::LimitContext context;
  context.trace = met.trace;
  for (const noise::RecordPair& pair : met.pairs) {
    limits::observe(context, *pair.reference, *pair.candidate);
  }
  return context;
}

limits::LimitContext context_of(const Work& work, const Work& beside) {
  std::vector<compare::Pair> pairs = work.pairs;
  pairs.insert(pairs.end(), beside.pairs.begin(), beside.pairs.end());
  std::vector<limits::LimitContext> parts((pairs.size() + kAtOnce - 1) / kAtOnce);
  parallel_for(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * kAtOnce, end = std::min(begin + kAtOnce, pairs.size());
    for (std::size_t i = begin; i < end; ++i) {
      limits::observe(parts[part], *pairs[i].reference, *pairs[i].candidate);
    }
  });
  limits::LimitContext context = work.known;
  for (const limits::LimitContext& part : parts) limits::join(context, part);
  return context;
}

}  // namespace ttcheck::diff
