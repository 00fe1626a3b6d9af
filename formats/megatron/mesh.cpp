// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMostRanksListed = 65536;

/// Takes the fastest digits off a rank number.
std::int64_t digit(std::int64_t& rank, std::int64_t size) {
  const std::int64_t value = rank % size;
  rank /= size;
  return value;
}

Coordinates coordinates(const MegatronArgs& args, std::int64_t rank) {
  Coordinates at;
  std::int64_t rest = rank;
  at["tp"] = digit(rest, args.tp);
  at["cp"] = digit(rest, args.cp);
  at["pp"] = args.dp_outermost ? digit(rest, args.pp) : rest / args.dp;
  at["dp"] = rest % args.dp;
  rest = rank;
  at["etp"] = digit(rest, args.etp);
  at["ep"] = digit(rest, args.ep);
  if (args.dp_outermost) digit(rest, args.pp);
  at["edp"] = rest % (args.world / (args.etp * args.ep * args.pp));
  return at;
}

void add(MegatronMesh& out, const Coordinates& at, std::int64_t rank) {
  out.places.try_emplace({coordinate(at, "tp"), coordinate(at, "pp"), coordinate(at, "ep")},
                         static_cast<std::int32_t>(rank));
}

void list_expert_ranks(const MegatronArgs& args, MegatronMesh& out) {
  if (args.world > kMostRanksListed) {
    throw Error::unable(fmt::format("limit reached: experts over {} ranks, at most {} are listed",
                                    args.world, kMostRanksListed));
  }
  out.mesh.expert_axes = {{"ep", args.ep}};
  if (args.etp != args.tp) out.mesh.expert_axes.push_back({"etp", args.etp});
  for (std::int64_t rank = 0; rank < args.world; ++rank) {
    out.mesh.ranks.push_back(coordinates(args, rank));
    add(out, out.mesh.ranks.back(), rank);
  }
  std::set<std::pair<std::int64_t, std::int64_t>> saved;
  const auto place = [&](std::int32_t rank) {
    const Coordinates& at = out.mesh.ranks[static_cast<std::size_t>(rank)];
    return std::pair(coordinate(at, "tp"), coordinate(at, "pp"));
  };
  for (const auto& [where, rank] : out.places) {
    if (coordinate(out.mesh.ranks[static_cast<std::size_t>(rank)], "edp") != 0) continue;
    out.writers.push_back(rank);
    saved.insert(place(rank));
  }
  std::vector<std::int32_t> others;
  for (const auto& [where, rank] : out.places) others.push_back(rank);
  std::sort(others.begin(), others.end());
  for (const std::int32_t rank : others) {
    if (saved.insert(place(rank)).second) out.writers.push_back(rank);
  }
}

}  // namespace

MegatronMesh megatron_mesh(const MegatronArgs& args) {
  MegatronMesh out;
  out.mesh.axes = {{"pp", args.pp}, {"dp", args.dp}, {"cp", args.cp}, {"tp", args.tp}};
  if (args.dp_outermost) std::swap(out.mesh.axes[0], out.mesh.axes[1]);
  if (args.has_expert_ranks()) {
    list_expert_ranks(args, out);
  } else {
    for (std::int64_t pp = 0; pp < args.pp; ++pp) {
      for (std::int64_t tp = 0; tp < args.tp; ++tp) {
        const Coordinates at = {{"tp", tp}, {"pp", pp}};
        const std::int64_t rank = out.mesh.rank_at(at).value_or(0);
        add(out, at, rank);
        out.writers.push_back(static_cast<std::int32_t>(rank));
      }
    }
  }
  std::sort(out.writers.begin(), out.writers.end());
  return out;
}

}  // namespace ttcheck::formats
