// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers the stages of a Megatron run hold: what its arguments say, held against the layers
// that are there.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

/// First layer of each chunk, by vpp * args.pp + pp. `held` is how many layers each chunk's files
/// show; none: no file of it can be read. Arguments that the files contradict are a finding; the
/// files count where all are there.
std::vector<std::int64_t> first_layers(const MegatronArgs& args,
                                       const std::vector<std::optional<std::int64_t>>& held,
                                       std::vector<Finding>& findings);

}  // namespace ttcheck::formats
