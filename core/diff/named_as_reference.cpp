#include "core/diff/named_as_reference.hpp"

#include <algorithm>
#include <unordered_map>

namespace ttcheck::diff {

void name_as_reference(const MetStep& met, std::span<recompute::Recomputed> recomputed) {
  const bool alike = std::ranges::all_of(met.pairs, [](const noise::RecordPair& pair) {
    return pair.reference->identity == pair.candidate->identity;
  });
  if (alike) return;
  std::unordered_map<Identity, Identity, IdentityHash> names;
  for (const noise::RecordPair& pair : met.pairs) {
    names.emplace(pair.candidate->identity, pair.reference->identity);
  }
  for (const std::size_t alone : met.alignment.only_candidate) {
    names.emplace(met.candidate()[alone].identity, Identity{});
  }
  for (recompute::Recomputed& one : recomputed) {
    for (Identity& input : one.inputs) {
      const auto found = names.find(input);
      if (found != names.end()) input = found->second;
    }
  }
}

}  // namespace ttcheck::diff
