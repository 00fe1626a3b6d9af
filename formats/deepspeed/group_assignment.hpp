// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which parameters the groups of an optimizer hold that lists none (ZeRO 0). Numbered state shows
// its shape. A flat group (FP16_Optimizer) shows its length alone, but its masters round to the
// weights, so that a few elements of each tell whether a guess is right.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/deepspeed/model_states.hpp"
#include "formats/deepspeed/parameter_groups.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

struct DeepspeedAssigned {
  std::vector<std::vector<Candidate>> groups;  ///< in the order of the ids, or of the row
  bool ambiguous = false;                      ///< another order fits as well
  std::int64_t doubtful = 0;                   ///< parameters whose masters are not their weights
};

using WeightsByName = std::map<std::string, const DeepspeedWeight*, std::less<>>;

/// Those that the rank of that MM may hold.
WeightsByName weights_of(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                         std::int64_t mp);

/// Whether both begin with the same values, and not with one value alone.
bool begin_alike(const DeepspeedWeight& a, const DeepspeedWeight& b);

/// None where `parameters` fit no order of the groups. Throws Error for a
/// flat group that is no row.
std::optional<DeepspeedAssigned> assign(const TorchFile& file,
                                        const std::vector<OptimizerGroup>& groups,
                                        const std::vector<Candidate>& parameters,
                                        const WeightsByName& weights);

}  // namespace ttcheck::formats
