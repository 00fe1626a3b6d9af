// SPDX-License-Identifier: Apache-2.0
#pragma once
// `param_slice_mappings`: where each parameter's piece starts in a rank's partition, as the rank
// wrote it. Under round_robin_gradients DeepSpeed 0.19 writes it in another order than that of the
// partition, so that it proves nothing there; else it tells whose partition a file holds.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/model/run.hpp"
#include "formats/deepspeed/optim_states.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Start and count by name.
using DeepspeedSlices = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

/// What is stated of one group; none where it is no such mapping.
std::optional<DeepspeedSlices> slices_of(Value mapping_of_group);

/// A group's row, and the part of it that a file should hold.
struct DeepspeedPlan {
  const std::vector<Candidate>& group;
  std::span<const std::int64_t> starts;
  std::int64_t part = 0;   ///< length of each part
  std::int64_t index = 0;  ///< of the file's
  std::int64_t count = 1;
};

/// Holds the file's mapping of the group against the plan: one that is another rank's is TT507.
void check_slices(const DeepspeedTag& tag, const DeepspeedRows& rows, std::size_t group,
                  const DeepspeedPlan& plan, State& state);

}  // namespace ttcheck::formats
