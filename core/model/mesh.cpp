// SPDX-License-Identifier: Apache-2.0
#include "core/model/mesh.hpp"

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace ttcheck {
namespace {

/// Mixed-radix digits of `rank`, slowest axis first.
void unravel_onto(const std::vector<Axis>& axes, std::int64_t rank, Coordinates& at) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    at[axes[i].name] = rank % axes[i].size;
    rank /= axes[i].size;
  }
}

}  // namespace

std::int64_t Mesh::world_size() const {
  if (!ranks.empty()) return static_cast<std::int64_t>(ranks.size());
  std::int64_t product = 1;
  for (const Axis& axis : axes) product = checked_mul(product, axis.size);
  return product;
}

std::int64_t Mesh::size_of(std::string_view axis) const {
  for (const auto* list : {&axes, &expert_axes}) {
    for (const Axis& one : *list) {
      if (one.name == axis) return one.size;
    }
  }
  return axis == "sp" ? size_of("tp") : 1;
}

Coordinates Mesh::coordinates(std::int64_t rank) const {
  if (rank < 0 || rank >= world_size()) {
    throw Error(fmt::format("rank {} is outside of a world of {}", rank, world_size()));
  }
  if (!ranks.empty()) return ranks[static_cast<std::size_t>(rank)];
  Coordinates at;
  unravel_onto(expert_axes, rank, at);
  unravel_onto(axes, rank, at);
  return at;
}

std::optional<std::int64_t> Mesh::rank_at(const Coordinates& at) const {
  if (!ranks.empty()) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      bool same = true;
      for (const auto& [axis, value] : at) same = same && coordinate(ranks[rank], axis) == value;
      if (same) return static_cast<std::int64_t>(rank);
    }
    return std::nullopt;
  }
  std::int64_t rank = 0;
  for (const Axis& axis : axes) {
    const std::int64_t digit = coordinate(at, axis.name);
    if (digit < 0 || digit >= axis.size) return std::nullopt;
    rank = rank * axis.size + digit;
  }
  return rank;
}

std::int64_t coordinate(const Coordinates& at, std::string_view axis) {
  const auto found = at.find(axis);
  if (found != at.end()) return found->second;
  return axis == "sp" ? coordinate(at, "tp") : 0;
}

}  // namespace ttcheck
