// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the candidate another tensor of its layer whose heads a map then cut into rotary halves?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// Explains a candidate that is another tensor of its layer whose heads were reordered. Where a map
/// reorders keys, as between Meta's names and Hugging Face's, keys and values that changed places
/// are no longer each other: one is in the order of halves, the other of pairs. Tries the
/// reference's tensors of `subject.known` that stand beside it in attention. Not of more than 2^25
/// elements.
std::optional<Explanation> rotated_known(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
