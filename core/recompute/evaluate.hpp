// SPDX-License-Identifier: Apache-2.0
#pragma once
// A formula against the tensor that was dumped, range by range, by all threads.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/recompute/formula.hpp"
#include "core/recompute/mismatch.hpp"

namespace ttcheck::recompute {

/// Which of a target's ranges are made.
struct TargetRanges {
  std::int64_t size = 1;              ///< elements of each, the last one shorter
  std::vector<std::int64_t> numbers;  ///< ascending
  bool all = true;                    ///< every one
  std::int64_t without = -1;          ///< an element that is taken to be right; -1: none
};

/// Chooses as many ranges as `budget` multiplications allow, evenly spread, the one that holds
/// element `worst` (or -1) among them; nothing where it allows not even one. At most `most` of
/// them.
std::optional<TargetRanges> ranges_of(const Formula& formula, std::int64_t count, double budget,
                                      std::int64_t worst, std::int64_t most);

/// Elements that are looked at: those in one of the boxes.
using Part = std::vector<Box>;

/// One mismatch for each part, or one of all elements where there are no parts. The result does not
/// depend on threads. Throws Error where bytes cannot be read, or `stop` came true.
std::vector<Mismatch> evaluate(const Formula& formula, const Operand& dumped,
                               const TargetRanges& ranges, std::span<const Part> parts,
                               const std::function<bool()>& stop);

}  // namespace ttcheck::recompute
