// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether two values differ as a flipped bit makes them.

#include <cstdint>
#include <optional>

#include "core/compare/pair.hpp"

namespace ttcheck::compare {

inline constexpr int kSignBit = 31;

/// The bit, from 0, in which alone the elements `index` of two f32 tensors differ as they are
/// stored; nothing of others, in which units of rounding are bits as well. Throws Error.
std::optional<int> one_bit_apart(const Pair& pair, std::int64_t index);

}  // namespace ttcheck::compare
