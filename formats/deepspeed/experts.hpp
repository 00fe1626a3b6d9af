// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of experts in parameter names. A rank's module and optimizer number the rank's own
// experts from 0, expert files number all of them (deepspeed/runtime/engine.py
// `_save_moe_checkpoint`).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/deepspeed/values.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// Experts that a layer may have; counts of them times ranks stay far below 2^63.
inline constexpr std::int64_t kMostExperts = std::int64_t{1} << 20;

/// `<layer>.deepspeed_experts.<number><rest>`; a number from kMostExperts on is none of an
/// expert's.
struct ExpertName {
  std::string layer;
  std::int64_t number = 0;
  std::string rest;
};
std::optional<ExpertName> parse_expert_name(std::string_view name);

/// The name of the same parameter of expert `number`. REQUIRES that it is an expert's.
std::string expert_name(const std::string& name, std::int64_t number);

/// How many experts of each layer the names count: the highest number, and 1.
std::map<std::string, std::int64_t> count_experts(const std::vector<Candidate>& parameters);

/// The name by global numbers, for a rank of the expert-parallel group whose layers hold `counts`
/// experts each; names of no expert as they are. Throws Error when the number does not fit.
std::string global_expert_name(const std::string& name, std::int64_t ep_rank,
                               const std::map<std::string, std::int64_t>& counts);

/// Over how many ranks an optimizer that is not partitioned spreads its experts: the number in the
/// names of its groups (deepspeed/moe/utils.py, `ep_size_N`). None: it has no experts.
std::optional<std::int64_t> expert_ranks_of(Value optimizer);

}  // namespace ttcheck::formats
