// SPDX-License-Identifier: Apache-2.0
#pragma once
// How ZeRO cuts parameters into the flat partitions of ranks, as arithmetic. Stages 1 and 2 (and
// BF16_Optimizer): the parameters of a group lie one behind the other, and each rank has an equal
// part of that row; padding is at its end. Stage 3: each parameter is cut alone, by the ceiling,
// and a rank's parts lie one behind the other (deepspeed/utils/zero_to_fp32.py `_zero2_merge_*`,
// `_zero3_merge_*`; the padding of stage 3 was never written).

#include <cstdint>
#include <span>
#include <vector>

#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// Elements [begin, begin + count) of a parameter, at `at` of the rank's row.
struct Cut {
  std::size_t parameter = 0;
  std::int64_t at = 0, begin = 0, count = 0;

  bool operator==(const Cut&) const = default;
};

/// Starts of the parameters in a group's row, and behind them its length. `paddings`: elements left
/// out behind each; empty: none. Throws Error on overflow.
std::vector<std::int64_t> starts_of(const std::vector<Candidate>& group,
                                    std::span<const std::int64_t> paddings);

/// The cuts of the part [begin, begin + length) of a group's row.
std::vector<Cut> cuts_of_part(const std::vector<Candidate>& group,
                              std::span<const std::int64_t> starts, std::int64_t begin,
                              std::int64_t length);

/// The cuts of rank `index` of `count` when each parameter is cut alone. `length`: of its row.
std::vector<Cut> cuts_alone(const std::vector<Candidate>& parameters, std::int64_t index,
                            std::int64_t count, std::int64_t& length);

}  // namespace ttcheck::formats
