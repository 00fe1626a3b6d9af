// SPDX-License-Identifier: Apache-2.0
#pragma once
// Experts whose weights are joined into one tensor (GroupedMLP in megatron/core/moe/experts.py):
// `weight1` of [hidden, experts x ffn] is, in memory, [experts, hidden, ffn], and `weight2` of
// [experts x ffn, hidden] is [experts, ffn, hidden]. Each expert's part is the transpose of what a
// module of its own would hold.

#include <string>
#include <vector>

#include "formats/megatron/args.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

struct NamedTensor {
  std::string name;
  TorchTensor tensor;
};

/// The tensor itself, or one view for each expert that it joins, named as single experts are
/// (`experts.local_experts.<e>.linear_fc1.weight`), the `@` part kept; `first` is the number of the
/// rank's first expert. Throws Error when the tensor does not divide.
std::vector<NamedTensor> single_experts(const std::string& name, const TorchTensor& tensor,
                                        const MegatronArgs& args, std::int64_t first);

}  // namespace ttcheck::formats
