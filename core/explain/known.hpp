// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the candidate, or what it has too much, another tensor of the runs?

#include <vector>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// Tries each of `subject.known`, the first few thousand elements first: the candidate is that
/// tensor (as it stood before the step, of another layer or expert, under another name), or
/// candidate - reference is a multiple of it. The best of each.
std::vector<Explanation> known(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
