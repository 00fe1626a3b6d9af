// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/stages.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/model/box.hpp"

namespace ttcheck::assemble {
namespace {

constexpr std::int64_t kListed = 65536;
constexpr std::array kStageAxes = {"pp", "vpp", "ep", "etp"};
constexpr std::size_t kExpertAxes = 2;  // the last ones of them

}  // namespace

std::int64_t world_of(const Mesh& mesh) {
  try {
    return mesh.world_size();
  } catch (const Error&) {
    return 0;
  }
}

bool lives_where_it_lives(std::string_view axis) {
  return std::ranges::any_of(kStageAxes, [&](const char* one) { return axis == one; });
}

Stages::Stages(const Mesh& mesh) {
  const std::int64_t world = world_of(mesh);
  if (world > kListed) return;
  experts_apart_ =
      std::ranges::any_of(mesh.expert_axes, [](const Axis& axis) { return axis.name == "etp"; });
  std::map<Extents, std::size_t> stages;
  for (std::int64_t rank = 0; rank < world; ++rank) {
    at_.push_back(mesh.coordinates(rank));
    Extents key;
    for (const char* axis : kStageAxes) key.push_back(coordinate(at_.back(), axis));
    const std::size_t stage = stages.try_emplace(std::move(key), stages.size()).first->second;
    stage_.push_back(stage);
    members_.resize(stages.size());
    members_[stage].push_back(static_cast<std::int32_t>(rank));
  }
}

std::vector<std::int32_t> Stages::absent(const std::set<std::int32_t>& holders) const {
  std::set<std::size_t> stages;
  for (const std::int32_t rank : holders) {
    if (at(rank) != nullptr) stages.insert(stage_[static_cast<std::size_t>(rank)]);
  }
  std::vector<std::int32_t> ranks;
  for (const std::size_t stage : stages) {
    for (const std::int32_t rank : members_[stage]) {
      if (!holders.contains(rank)) ranks.push_back(rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool Stages::beside(std::int32_t rank, const std::set<std::int32_t>& holders,
                    const std::set<std::string>& sharded) const {
  const bool dense = experts_apart_ && sharded.contains("tp");
  const auto end = kStageAxes.end() - (dense ? kExpertAxes : 0);
  const auto near = [&](std::int32_t holder) {
    if (at(rank) == nullptr || at(holder) == nullptr) return true;
    return std::all_of(kStageAxes.begin(), end, [&](const char* axis) {
      return sharded.contains(axis) || coordinate(*at(rank), axis) == coordinate(*at(holder), axis);
    });
  };
  return std::any_of(holders.begin(), holders.end(), near);
}

const Coordinates* Stages::at(std::int32_t rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return rank < 0 || index >= at_.size() ? nullptr : &at_[index];
}

}  // namespace ttcheck::assemble
