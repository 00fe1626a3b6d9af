// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the damage confined to a part of the tensor?

#include <vector>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// The smallest part along one dimension, the ranks, and the block or the run of elements that the
/// error is confined to. What is left is the error outside. These say where, not how, so that any
/// hypothesis that says how goes before them.
std::vector<Explanation> localised(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
