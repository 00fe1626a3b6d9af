#include "core/noise/gradients.hpp"

#include <algorithm>

#include "core/noise/excuse.hpp"
#include "core/noise/rules.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {

bool excuse_by_terms(TensorResult& result, const RecordPair& pair, const Magnitude& roundoff) {
  const auto sizes = sizes_of(result, pair);
  if (!sizes || !may_be_roundoff(*sizes, roundoff)) return false;
  const double held = std::max(sizes->reference.usual, sizes->candidate.usual);
  const double of_terms = roundoff.usual / result.limit.op;
  verdict::set_test(result, Test::terms, std::min(sizes->apart.usual, held) / of_terms,
                    result.limit.op);
  result.limit.source += "; of what its weight's is, which sums the same terms";
  excuse(result, kTerms, roundoff.usual);
  return true;
}

bool settle_gradients(const StepRecords& step, std::span<TensorResult> results,
                      const Terms& terms) {
  bool any = false;
  for (TensorResult& result : results) {
    if (!is_slope(result.kind) || !is_open_to_noise(result)) continue;
    const RecordPair& pair = step.pairs[result.pair];
    const auto roundoff = terms.roundoff(*pair.reference, result.limit.op);
    any = (roundoff && excuse_by_terms(result, pair, *roundoff)) || any;
  }
  return any;
}

}  // namespace ttcheck::noise
