// SPDX-License-Identifier: Apache-2.0
#pragma once
// One element of a pair.

#include <array>
#include <cstdint>
#include <optional>

#include "core/compare/pair.hpp"

namespace ttcheck::compare {

/// What reference and candidate hold at a linear index, after their maps; nothing where a side is
/// complex or has holes. REQUIRES an index of the tensor. Throws Error.
std::optional<std::array<double, 2>> values_at(const Pair& pair, std::int64_t index);

}  // namespace ttcheck::compare
