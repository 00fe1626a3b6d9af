// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/stated_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostAxes = 32;
/// A number in a file costs no memory that the file does not.
constexpr std::int64_t kRanksFree = 4096, kRanksAPlace = 64;

/// Axes that frameworks build their ranks from come first; their groups and combinations (tcp,
/// etmp, mp) after them.
constexpr std::array<std::string_view, 8> kOrder = {"pp", "dp",  "cp",  "tp",
                                                    "ep", "etp", "edp", "sp"};

std::size_t place_in_order(std::string_view axis) {
  return static_cast<std::size_t>(std::ranges::find(kOrder, axis) - kOrder.begin());
}

using Column = std::vector<std::int64_t>;  ///< an axis' coordinate by rank

/// How many ranks these axes tell apart.
std::size_t told_apart(const std::vector<const Column*>& columns, std::size_t ranks) {
  std::set<Column> places;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Column place;
    for (const Column* column : columns) place.push_back((*column)[rank]);
    places.insert(std::move(place));
  }
  return places.size();
}

/// The size of each axis, and the coordinate of each place along it, by name.
using Axes = std::map<std::string, std::pair<std::int64_t, Column>>;

Axes axes_of(const std::map<std::int32_t, StatedPlace>& places) {
  Axes axes;
  std::size_t row = 0;
  for (const auto& [rank, place] : places) {
    for (const auto& [name, axis] : place) {
      if (axis.size < 1 || axis.rank < 0 || axis.rank >= axis.size) {
        throw Error(
            fmt::format("rank {} is at {} of {} along {}", rank, axis.rank, axis.size, name));
      }
      if (axis.size == 1) continue;
      const auto slot = axes.try_emplace(name, axis.size, Column(places.size(), 0)).first;
      if (slot->second.first != axis.size) {
        throw Error(fmt::format("ranks state {} and {} as the size of {}", slot->second.first,
                                axis.size, name));
      }
      slot->second.second[row] = axis.rank;
      if (axes.size() > kMostAxes) throw Error(fmt::format("more than {} axes", kMostAxes));
    }
    ++row;
  }
  return axes;
}

/// Sorts the axes into the mesh's, expert axes and words for others; the names of those that are no
/// such words.
std::vector<std::string> sort_out(const Axes& axes, std::size_t places, StatedMesh& made) {
  std::vector<std::string> names;
  for (const auto& [name, axis] : axes) names.push_back(name);
  std::ranges::sort(names, {}, [](const std::string& name) {
    return std::pair(place_in_order(name), std::string_view(name));
  });
  std::vector<const Column*> kept;
  std::vector<std::string> distinct;
  std::size_t apart = 1;
  for (const std::string& name : names) {
    const auto alias = std::ranges::find_if(
        distinct, [&](const std::string& other) { return axes.at(other) == axes.at(name); });
    if (alias != distinct.end()) {
      made.same.emplace_back(name, *alias);
      continue;
    }
    distinct.push_back(name);
    const auto& [size, column] = axes.at(name);
    kept.push_back(&column);
    const std::size_t now = told_apart(kept, places);
    if (now > apart || places == 1) {
      made.mesh.axes.push_back({name, size});
      apart = now;
    } else {
      kept.pop_back();
      made.mesh.expert_axes.push_back({name, size});
    }
  }
  return distinct;
}

}  // namespace

StatedMesh mesh_of(const std::map<std::int32_t, StatedPlace>& places, std::int64_t world) {
  StatedMesh made;
  if (places.empty()) return made;
  const Axes axes = axes_of(places);
  const std::vector<std::string> names = sort_out(axes, places.size(), made);
  if (names.empty()) return made;
  const std::int64_t most = std::max(kRanksFree, kRanksAPlace * std::ssize(places));
  world = std::max({world, std::int64_t{places.rbegin()->first} + 1, made.mesh.world_size()});
  if (places.begin()->first < 0 || world > most) {
    throw Error(fmt::format("{} ranks are stated, {} are there", world, places.size()));
  }
  made.mesh.ranks.resize(static_cast<std::size_t>(world));
  for (const std::string& name : names) {
    for (Coordinates& at : made.mesh.ranks) at[name] = 0;
    std::size_t row = 0;
    for (const auto& [rank, place] : places) {
      made.mesh.ranks[static_cast<std::size_t>(rank)][name] = axes.at(name).second[row++];
    }
  }
  return made;
}

}  // namespace ttcheck::formats
