#pragma once
// The door of this room: why a pair is beyond its limit.

#include <vector>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// What explains the error of a pair: hypotheses that leave no more than the noise, or a thirtieth
/// of the error, the best first. Score of one: the residual it leaves (counted no lower than noise
/// or a thirtieth of the error, nor than a thousandth of it) times its penalty; the error itself is
/// the score of no explanation, and worse ones are left out. Weights are the inverse scores,
/// brought to a sum of 1 with that of none. Empty: nothing fits. Bytes that can no longer be read
/// explain nothing. Without `read` only what the first pass summed up is used.
std::vector<Explanation> explanations(const Subject& subject, bool read);

/// The least error that explanations of a result can be told apart by: 4 units of the coarser
/// dtype, or its limit.
double noise_of(const TensorResult& result);

}  // namespace ttcheck::explain
