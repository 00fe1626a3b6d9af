// SPDX-License-Identifier: Apache-2.0
#include "core/diff/named_as_reference.hpp"

#include <algorithm>

namespace ttcheck::diff {

ReferenceNames::ReferenceNames(const MetStep& met) {
  const bool alike = std::ranges::all_of(met.pairs, [](const noise::RecordPair& pair) {
    return pair.reference->identity == pair.candidate->identity;
  });
  if (alike) return;
  for (const noise::RecordPair& pair : met.pairs) {
    names_.emplace(pair.candidate->identity, pair.reference->identity);
  }
  for (const std::size_t alone : met.alignment.only_candidate) {
    names_.emplace(met.candidate()[alone].identity, Identity{});
  }
}

void ReferenceNames::give(recompute::Recomputed& recomputed) const {
  for (Identity& input : recomputed.inputs) {
    const auto found = names_.find(input);
    if (found != names_.end()) input = found->second;
  }
}

}  // namespace ttcheck::diff
