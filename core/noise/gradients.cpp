// SPDX-License-Identifier: Apache-2.0
#include "core/noise/gradients.hpp"

#include <algorithm>

#include "core/noise/excuse.hpp"
#include "core/noise/rules.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {
namespace {

class Gradients : public Excuser {
 public:
  Gradients(const StepRecords& step, const Terms& terms) : step_(step), terms_(terms) {}

  bool look(TensorResult& result) override {
    if (!is_slope(result.kind) || !is_open_to_noise(result)) return false;
    const RecordPair& pair = step_.pairs[result.pair];
    const auto roundoff = terms_.roundoff(*pair.reference, result.limit.op);
    return roundoff && excuse_by_terms(result, pair, *roundoff);
  }

 private:
  const StepRecords& step_;
  const Terms& terms_;
};

}  // namespace

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

std::unique_ptr<Excuser> along_gradients(const StepRecords& step, const Terms& terms) {
  return std::make_unique<Gradients>(step, terms);
}

}  // namespace ttcheck::noise
