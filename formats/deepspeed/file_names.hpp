// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which files of a tag directory DeepSpeed wrote, and of which ranks they are: by their names
// (deepspeed/runtime/engine.py `_get_*_ckpt_name`, deepspeed/runtime/pipe/module.py
// `ckpt_layer_path`). Numbers are numbers: rank 10 comes after rank 2.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttcheck::formats {

enum class DeepspeedKind : std::uint8_t {
  model,             ///< [zero_pp_rank_D_]mp_rank_MM_model_states.pt
  optimizer,         ///< [bf16_]zero_pp_rank_D_mp_rank_MM_optim_states.pt
  expert_optimizer,  ///< expp_rank_E_mp_rank_MM_optim_states.pt
  layer,             ///< layer_LL[-model_TT]-model_states.pt
  expert,            ///< [layer_L_]expert_G_mp_rank_MM_model_states.pt
};

struct DeepspeedFile {
  std::string path;
  DeepspeedKind kind = DeepspeedKind::model;
  std::optional<std::int64_t> dp;  ///< of an expert_optimizer: its expert-parallel rank
  std::int64_t mp = 0;             ///< MM: pipeline stage x tensor ranks + tensor rank
  std::int64_t layer = 0, expert = 0;
};

/// The file that a name stands for, if it is one of DeepSpeed's.
std::optional<DeepspeedFile> parse_deepspeed_name(std::string_view name);

/// Those of the names that are, by kind, then by their numbers.
std::vector<DeepspeedFile> deepspeed_files(const std::vector<std::string>& names);

/// True where two names stand for one file (`mp_rank_00` and `mp_rank_000`).
bool same_place(const DeepspeedFile& a, const DeepspeedFile& b);

}  // namespace ttcheck::formats
