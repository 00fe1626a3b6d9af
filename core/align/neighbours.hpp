// SPDX-License-Identifier: Apache-2.0
#pragma once
// What helps names that do not meet: the nearest spelling on the other side, and a map to paste.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/align/alignment.hpp"

namespace ttcheck::align {

/// A leftover of the reference and the leftover of the candidate that is most like it: equal shape,
/// then the smallest part distance, then name order.
struct Neighbour {
  std::size_t reference, candidate;
  double distance = 0;
};

struct Neighbours {
  std::vector<Neighbour> pairs;  ///< nearest first
  std::int64_t unclear = 0;      ///< of the reference: several of its shape may be meant by it
};

/// The leftovers of which one partner alone can be meant: the only ones of their kind and shape on
/// both sides, or the nearest of each other, nearer than any other, with most parts in common. A
/// name is no neighbour of itself. Takes time leftovers^2, so only the first 1,000 leftovers of
/// each side are looked at, and names so long that it would take seconds are left out.
Neighbours neighbours(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                      const Alignment& alignment);

/// `[[map]]` entries (TOML) that would make these neighbours meet: one with `**` where names differ
/// by a constant prefix, else with numbers folded into {l} {m} ... where both names have them in
/// the same order and no other pair reads them otherwise; equal entries once.
std::string map_to_paste(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                         std::span<const Neighbour> neighbours);

}  // namespace ttcheck::align
