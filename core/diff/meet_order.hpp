#pragma once
// The order of pairs: that in which a difference would have come about.

#include <span>
#include <vector>

#include "core/align/align.hpp"
#include "core/diff/context.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::diff {

/// Of two traces causal order, by the side of one rank if there is one; else the order in which a
/// model uses its tensors.
void sort_pairs(std::vector<align::PairIndex>& pairs, std::span<const Tensor> reference,
                std::span<const Tensor> candidate, const DiffContext& context);

}  // namespace ttcheck::diff
