// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one rank's optim_states file holds: rows of elements (masters and moments) by flat group,
// and numbers beside them. ZeRO 1 and 2 and BF16_Optimizer keep `single_partition_of_fp32_groups`
// and `base_optimizer_state`, ZeRO 3 `fp32_flat_groups` and `optimizer_state_dict`
// (deepspeed/runtime/zero/stage_1_and_2.py, stage3.py, deepspeed/runtime/bf16_optimizer.py
// `state_dict`).

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

struct DeepspeedRows {
  struct Row {
    std::string suffix;  ///< `@master`, `@exp_avg`...
    std::size_t group = 0;
    TorchTensor tensor;
  };
  struct Number {
    std::string suffix;
    std::size_t group = 0;
    double value = 0;
    Where where;
  };

  const DeepspeedPart* part = nullptr;
  Value optimizer;                    ///< the dict of the optimizer's state
  bool alone = false;                 ///< stage 3: each parameter is cut alone
  std::vector<std::int64_t> lengths;  ///< of the groups' longest rows
  std::vector<Value> slices;          ///< param_slice_mappings, by group
  std::vector<Row> rows;              ///< by group
  std::vector<Number> numbers;        ///< by group
};

/// Reads the file's metadata; what cannot be described is a finding and counts as unreadable.
DeepspeedRows read_rows(const DeepspeedPart& part, State& state);

}  // namespace ttcheck::formats
