// SPDX-License-Identifier: Apache-2.0
#pragma once
// The k-th smallest of numbers, for several k at once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ttcheck::compare {

/// The numbers that sorting would put at `places` (0 is that of the smallest), one for each.
/// REQUIRES places below the count of the numbers, which is below 2^32.
std::vector<std::uint64_t> order_statistics(std::span<const std::uint64_t> numbers,
                                            std::span<const std::size_t> places);

}  // namespace ttcheck::compare
