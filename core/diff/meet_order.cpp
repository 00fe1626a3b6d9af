#include "core/diff/meet_order.hpp"

#include <algorithm>
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
  std::ranges::stable_sort(order, {}, [&](std::size_t n) { return places[n]; });
  std::vector<align::PairIndex> sorted;
  sorted.reserve(pairs.size());
  for (const std::size_t n : order) sorted.push_back(std::move(pairs[n]));
  pairs = std::move(sorted);
}

}  // namespace

void sort_pairs(std::vector<align::PairIndex>& pairs, std::span<const Tensor> reference,
                std::span<const Tensor> candidate, const DiffContext& context) {
  if (!context.reference.trace || !context.candidate.trace) {
    std::vector<align::ModelPlace> places(pairs.size());
    parallel_ranges(pairs.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        const Tensor& tensor = reference[pairs[n].reference];
        places[n] = align::model_place(tensor.identity, tensor.kind);
      }
    });
    return sort_by(pairs, places);
  }
  const bool by_reference =
      context.reference.mesh.world_size() == 1 || context.candidate.mesh.world_size() != 1;
  const auto all = by_reference ? locate::causal_places(reference, context.reference.mesh)
                                : locate::causal_places(candidate, context.candidate.mesh);
  std::vector<locate::CausalPlace> places;
  places.reserve(pairs.size());
  for (const align::PairIndex& pair : pairs) {
    places.push_back(all[by_reference ? pair.reference : pair.candidate]);
  }
  sort_by(pairs, places);
}

}  // namespace ttcheck::diff
