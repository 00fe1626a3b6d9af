// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_order.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/align/model_order.hpp"
#include "core/base/parallel.hpp"
#include "core/locate/order.hpp"

namespace ttcheck::diff {
namespace {

/// `pairs` by ascending `places`, which holds one place per pair.
template <class Place>
void sort_by(std::vector<align::PairIndex>& pairs, const std::vector<Place>& places) {
  if (std::ranges::is_sorted(places)) return;
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t n) -> const Place& { return places[n]; });
  std::vector<align::PairIndex> sorted;
  sorted.reserve(pairs.size());
  for (const std::size_t n : order) sorted.push_back(std::move(pairs[n]));
  pairs = std::move(sorted);
}

/// Smaller is earlier.
struct StatePlace {
  std::int64_t kind = 0, order = 0;  ///< as the model was defined; 0 where nothing tells
  align::ModelPlace named;           ///< by its name, where the order is not told

  auto operator<=>(const StatePlace&) const = default;
};

StatePlace place_of(const Tensor& reference, const Tensor* defined) {
  StatePlace place;
  place.named = align::model_place(reference.identity, reference.kind);
  if (defined == nullptr) return place;
  place.kind = std::exchange(place.named, {}).kind;
  place.order = defined->order;
  return place;
}

void sort_states(std::vector<align::PairIndex>& pairs, const std::array<OpenedStep, 2>& sides) {
  const auto& [a, b] = sides;
  std::vector<StatePlace> places(pairs.size());
  parallel_ranges(pairs.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const Tensor& reference = a.assembly.tensors[pairs[n].reference];
      const Tensor& candidate = b.assembly.tensors[pairs[n].candidate];
      const Tensor* const defined = a.defined_order   ? &reference
                                    : b.defined_order ? &candidate
                                                      : nullptr;
      places[n] = place_of(reference, defined);
    }
  });
  sort_by(pairs, places);
}

}  // namespace

void sort_pairs(std::vector<align::PairIndex>& pairs, const std::array<OpenedStep, 2>& sides,
                const DiffContext& context) {
  if (!context.reference.trace || !context.candidate.trace) return sort_states(pairs, sides);
  const bool by_reference =
      context.reference.mesh.world_size() == 1 || context.candidate.mesh.world_size() != 1;
  const auto all = by_reference
                       ? locate::causal_places(sides[0].assembly.tensors, context.reference.mesh)
                       : locate::causal_places(sides[1].assembly.tensors, context.candidate.mesh);
  std::vector<locate::CausalPlace> places;
  places.reserve(pairs.size());
  for (const align::PairIndex& pair : pairs) {
    places.push_back(all[by_reference ? pair.reference : pair.candidate]);
  }
  sort_by(pairs, places);
}

}  // namespace ttcheck::diff
