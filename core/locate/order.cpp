// SPDX-License-Identifier: Apache-2.0
#include "core/locate/order.hpp"

#include <algorithm>
#include <map>

namespace ttcheck::locate {
namespace {

std::int32_t rank_of(const Tensor& tensor) {
  if (!tensor.pieces.empty()) return tensor.pieces.front().rank;
  if (!tensor.terms.empty() && !tensor.terms.front().empty())
    return tensor.terms.front().front().rank;
  return kNoRank;
}

std::int64_t stage_of(const Tensor& tensor, const Mesh& mesh) {
  const std::int32_t rank = rank_of(tensor);
  if (rank < 0 || rank >= mesh.world_size()) return 0;
  const Coordinates at = mesh.coordinates(rank);
  const std::int64_t stage = coordinate(at, "vpp") * mesh.size_of("pp") + coordinate(at, "pp");
  return tensor.identity.phase == Phase::backward ? -stage : stage;
}

/// Gives the comm records among `members`, the records of one rank by `seq`, the place of the
/// record before them, or of the one after those that the rank's work begins with: a stage receives
/// first. Records of `state` are no work.
void place_comm(std::span<const Tensor> tensors, std::span<const std::size_t> members,
                std::vector<CausalPlace>& places) {
  const auto is_work = [&](std::size_t i) {
    const Phase phase = tensors[i].identity.phase;
    return phase != Phase::comm && phase != Phase::state;
  };
  const auto first = std::ranges::find_if(members, is_work);
  CausalPlace near = first == members.end() ? CausalPlace{} : places[*first];
  std::int32_t after = 0;
  for (const std::size_t i : members) {
    if (is_work(i)) {
      near = places[i];
      after = 1;
    }
    if (tensors[i].identity.phase != Phase::comm) continue;
    places[i].phase = near.phase;
    places[i].microbatch = near.microbatch;
    places[i].stage = near.stage;
    places[i].after = after;
  }
}

}  // namespace

std::vector<CausalPlace> causal_places(std::span<const Tensor> tensors, const Mesh& mesh) {
  std::vector<CausalPlace> places(tensors.size());
  std::map<std::int32_t, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    CausalPlace& place = places[i];
    place.phase = static_cast<std::int32_t>(tensor.identity.phase);
    place.microbatch = tensor.identity.microbatch;
    place.stage = stage_of(tensor, mesh);
    place.seq = tensor.trace ? tensor.trace->seq : tensor.order;
    by_rank[rank_of(tensor)].push_back(i);
  }
  for (auto& [rank, members] : by_rank) {
    std::ranges::stable_sort(members, {}, [&](std::size_t i) { return places[i].seq; });
    place_comm(tensors, members, places);
  }
  return places;
}

}  // namespace ttcheck::locate
