// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files as DeepSpeed writes them, by hand: dicts in torch archives of one storage.

#include <string>
#include <utility>
#include <vector>

#include "tests/support/opened_torch.hpp"

namespace ttcheck::tests {

/// A storage of so many floats 0, 1, 2...; element i begins with byte 4 i.
inline std::string floats(std::int64_t count) {
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

/// A row of elements [offset, offset + count) of the archive's storage of 64 floats.
inline std::string row(std::int64_t offset, std::int64_t count) {
  return pickled::tensor({"FloatStorage", "0", 64, offset, {count}, {1}});
}

inline std::string scalar(std::int64_t offset) {
  return pickled::tensor({"FloatStorage", "0", 64, offset, {}, {}});
}

/// `stem`: of the file that it was written to.
inline std::string archive(const std::string& object, const std::string& stem = "x") {
  ZipWriter made;
  made.add(stem + "/data.pkl", pickled::whole(object));
  made.add(stem + "/data/0", floats(64));
  made.add(stem + "/version", "3\n");
  return made.finish(true);
}

/// model_states of a module with `a` [3, 2] and `b` [3], and a buffer.
struct ModelStates {
  std::string module =
      pickled::dict({{"a", pickled::tensor({"FloatStorage", "0", 64, 0, {3, 2}, {2, 1}})},
                     {"b", row(6, 3)},
                     {"shift", row(9, 2)}});
  std::string shapes = pickled::list({pickled::dict({{"a", pickled::numbers({3, 2})}}),
                                      pickled::dict({{"b", pickled::numbers({3})}})});
  std::string optimizer = "N";
  std::string more_key = "who";
  std::string more = pickled::text("me");
  std::string stem = "x";
  std::int64_t steps = 7, ranks = 2, mp = 1, stage = 2;

  std::string file() const {
    return archive(
        pickled::dict(
            {{"module", module},
             {"buffer_names", pickled::list({pickled::text("shift")})},
             {"optimizer", optimizer},
             {"param_shapes", shapes},
             {"shared_params", pickled::dict({{"head", pickled::text("a")}})},
             {"global_steps", pickled::integer(steps)},
             {"dp_world_size", pickled::integer(ranks)},
             {"mp_world_size", pickled::integer(mp)},
             {"ds_config", pickled::dict({{"zero_optimization",
                                           pickled::dict({{"stage", pickled::integer(stage)}})}})},
             {more_key, more}}),
        stem);
  }
};

inline std::string fragment(std::int64_t start, std::int64_t count) {
  return pickled::call("deepspeed.utils.tensor_fragment", "fragment_address",
                       {pickled::integer(count), pickled::integer(start)});
}

/// A state of one group: `step` is the storage's element of that number. `one`: a row of one
/// element beside it, as some optimizers keep of each group; none where it is empty.
inline std::string moments(const std::string& rows, std::int64_t step,
                           const std::string& one = {}) {
  if (one.empty()) return pickled::dict({{"step", scalar(step)}, {"exp_avg", rows}});
  return pickled::dict({{"step", scalar(step)}, {"exp_avg", rows}, {"tensor_step", one}});
}

inline std::string base_state(const std::string& first, const std::string& second) {
  // integer keys: dict() writes text keys, which name the same states
  return pickled::dict(
      {{"state", pickled::dict({{"0", first}, {"1", second}})},
       {"param_groups",
        pickled::list({pickled::dict({{"lr", pickled::integer(1)},
                                      {"params", pickled::list({pickled::integer(0)})}}),
                       pickled::dict({{"lr", pickled::integer(2)},
                                      {"params", pickled::list({pickled::integer(1)})}})})}});
}

/// optim_states of ZeRO 2 on two ranks: parts of 3 and 2 elements, the last lacks one of padding.
struct OptimStates {
  std::string first = row(0, 3), second = row(10, 2);
  std::string first_moment = row(20, 3), second_moment = row(30, 2);
  std::string one;
  std::string stem = "x";
  std::int64_t step = 7;
  std::string slices = pickled::list({});
  std::string counts = pickled::list({pickled::integer(2), pickled::integer(2)});

  std::string file() const {
    return archive(
        pickled::dict(
            {{"optimizer_state_dict",
              pickled::dict(
                  {{"single_partition_of_fp32_groups", pickled::list({first, second})},
                   {"base_optimizer_state", base_state(moments(first_moment, step, one),
                                                       moments(second_moment, step, one))},
                   {"zero_stage", pickled::call("deepspeed.runtime.zero.config", "ZeroStageEnum",
                                                {pickled::integer(2)})},
                   {"partition_count", counts},
                   {"param_slice_mappings", slices}})}}),
        stem);
  }
};

}  // namespace ttcheck::tests
