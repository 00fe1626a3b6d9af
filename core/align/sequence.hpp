// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two sequences of symbols -> which places of them are the same, in order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ttcheck::align {

/// Places that match, ascending on both sides, of equal symbols. As many as can be between symbols
/// that are on each side once, which are matched first. Deterministic; time is linear where the
/// sequences differ in few places. Stretches that differ in more than `most` places are left out
/// whole, so that time and memory stay below (length + most) * most and 4 * most^2 bytes.
std::vector<std::pair<std::size_t, std::size_t>> common_sequence(std::span<const std::uint32_t> a,
                                                                 std::span<const std::uint32_t> b,
                                                                 std::size_t most = 2048);

}  // namespace ttcheck::align
