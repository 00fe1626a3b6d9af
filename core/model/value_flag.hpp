// SPDX-License-Identifier: Apache-2.0
#pragma once
// Value flags are a set of bits: torch keeps a tensor that is conjugated and negated at once.

#include "core/model/piece.hpp"

namespace ttcheck {

constexpr ValueFlag operator|(ValueFlag a, ValueFlag b) {
  return static_cast<ValueFlag>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// True when `flags` holds `one`.
constexpr bool has_flag(ValueFlag flags, ValueFlag one) {
  return (static_cast<std::uint8_t>(flags) & static_cast<std::uint8_t>(one)) != 0;
}

}  // namespace ttcheck
