// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whose file a name says it is: `model_world_size_4_rank_0.pt` as verl names them
// (verl/utils/checkpoint/fsdp_checkpoint_manager.py), `rank_0.pt`, `ckpt-rank0-of-4.pth` and the
// like, as scripts do that call torch.save on each rank.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck::formats {

/// What a rank's file holds; `whole`: all that the rank has.
enum class RankRole : std::uint8_t { model, optimizer, extra, whole };

inline constexpr std::size_t kRankRoles = 4;

struct RankFileName {
  RankRole role = RankRole::whole;
  std::string before, behind;  ///< of the rank's number
  std::int64_t world = 0;      ///< that the name states; 0: it does not
  std::int32_t rank = 0;
  std::size_t width = 0;  ///< of the number, where it has leading zeros

  /// The name of another rank's file.
  std::string of(std::int32_t other) const;

  /// What the names of a set of files have alike.
  std::string around() const { return before + "\n" + behind; }
};

/// Nothing for a name that says no rank, or one outside of its world. `name` has no folder.
std::optional<RankFileName> rank_file_name(std::string_view name);

}  // namespace ttcheck::formats
