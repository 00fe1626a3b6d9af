// SPDX-License-Identifier: Apache-2.0
#pragma once
// The door of this room: why a pair is beyond its limit.

#include <cstdint>
#include <vector>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// How much of a pair is read for it.
enum class Effort : std::uint8_t {
  sums,    ///< nothing: what the first pass summed up
  sample,  ///< a sample; all of it where that fits a hypothesis, or is right in many places
  all,     ///< a sample alone where elements that must be equal differ everywhere, for no reason
};

/// What explains the error of a pair: hypotheses that leave no more than the noise, or a thirtieth
/// of the error, the best first. Score of one: the residual it leaves (counted no lower than noise
/// or a thirtieth of the error, nor than a thousandth of it) times its penalty; the error itself is
/// the score of no explanation, and worse ones are left out. Weights are the inverse scores,
/// brought to a sum of 1 with that of none. Empty: nothing fits. Bytes that can no longer be read
/// explain nothing. By a sample places are not told.
std::vector<Explanation> explanations(const Subject& subject, Effort effort);

/// The least error that explanations of a result can be told apart by: 4 units of the coarser
/// dtype, or its limit.
double noise_of(const TensorResult& result);

}  // namespace ttcheck::explain
