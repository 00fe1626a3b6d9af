// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is said of a tensor that is all zeros on one side, of which no ratio tells as much.

#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck {

/// Says in words that one side is all zeros where the other is not, if that is so and values
/// decided; else empty.
std::string zero_words(const TensorResult& result);

}  // namespace ttcheck
