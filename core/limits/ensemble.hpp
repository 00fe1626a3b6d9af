// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two groups of runs of one thing: do they differ by more than the runs of a group among
// themselves?

#include <cstddef>
#include <span>
#include <vector>

namespace ttcheck::limits {

/// Distances between runs 0..n-1 in one tensor, of pairs (0,1), (0,2), .., (1,2), ..: norms of
/// differences over one norm that is the same for all.
using Distances = std::vector<double>;

/// The index at which Distances has the distance between runs i < j, of `runs` runs.
std::size_t pair_at(std::size_t i, std::size_t j, std::size_t runs);

/// What was found of one tensor.
struct Separation {
  double energy = 0;   ///< 2 mean(A-B) - mean(A-A) - mean(B-B), in medians of all distances
  double floor = 0;    ///< median distance within a group
  double between = 0;  ///< median distance from group to group
  double p = 1;        ///< family-wise: of any tensor reaching such an energy by relabelling alone
};

struct Ensemble {
  std::size_t relabellings = 0;     ///< distinct ways to part the runs into two such groups
  double critical = 0;              ///< energies above it have p below `level`
  bool decidable = false;           ///< there are enough relabellings for any p below `level`
  std::vector<Separation> tensors;  ///< in the order given
};

/// REQUIRES at least 2 runs in each group, at most 16 in all, the first `first` of `runs` being
/// group A, and finite distances. Time is relabellings x tensors x pairs; of very many tensors an
/// even part of the relabellings is taken.
Ensemble separate(std::span<const Distances> tensors, std::size_t first, std::size_t runs,
                  double level);

}  // namespace ttcheck::limits
