// SPDX-License-Identifier: Apache-2.0
#include "core/noise/excuse.hpp"

#include <string>

namespace ttcheck::noise {

bool is_held_to_roundoff(const TensorResult& result) {
  const LimitKind kind = result.limit.kind;
  return (kind == LimitKind::model || kind == LimitKind::measured) && !decides_alone(result.test) &&
         result.metrics.non_finite_disagree == 0;
}

bool is_open_to_noise(const TensorResult& result) {
  return result.outcome() == Outcome::diverged && is_held_to_roundoff(result) &&
         result.metrics.taken_out == 0;
}

bool may_go_on(const TensorResult& result, double part) {
  return result.outcome() == Outcome::noise && result.identity.phase == Phase::optimizer &&
         is_parameter(result.kind) && is_held_to_roundoff(result) &&
         result.metrics.taken_out == 0 &&
         result.metrics.max_abs > part * result.limit.row * result.metrics.reference_rms();
}

void excuse(TensorResult& result, std::string_view rule, double amount) {
  result.allowance = {std::string(rule), amount};
  result.wrong_ranks.clear();
  result.places = nullptr;
}

}  // namespace ttcheck::noise
