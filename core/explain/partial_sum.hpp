// SPDX-License-Identifier: Apache-2.0
#pragma once
// Does each rank hold one addend of what the reference has?

#include <optional>

#include "core/explain/subject.hpp"

namespace ttcheck::explain {

/// Copies that are held along a mesh axis and differ: their sum, or their mean, in rank order, is
/// the reference.
std::optional<Explanation> partial_sum(const Subject& subject);

}  // namespace ttcheck::explain
