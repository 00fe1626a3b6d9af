// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lists of a kept answer: findings, tensors, facts.

#include "core/model/verdict.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

// Each throws Error with file and offset.
Finding answer_finding(const Json& row);
TensorResult answer_tensor(const Json& row);
FactResult answer_fact(const Json& row);

/// Reads `{"file", "offset"}`; gives nothing for null.
std::optional<Where> answer_where(const Json& value);
AxisCoordinates answer_axes(const Json& value);

}  // namespace ttcheck::formats
