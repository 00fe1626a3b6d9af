// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule of the bench for checkpoints' tensors that no name makes meet: by their bytes, which is
// certain. Whole ones, and those that one side cuts where the other joins.

#include <vector>

#include "core/align/bench.hpp"
#include "core/align/contents.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

/// Pairs what is alone on both sides, under no name that both have, and holds the same bytes, in
/// one dtype and shape. Of several that hold the same, each meets one of the other side, in the
/// order of the files. Constants, which tell nothing, do so where others met and both sides have as
/// many of them. Then tensors that are, one behind the other along their first axis, a tensor of
/// the other side, or its queries, keys and values by heads (`numbers`). Reads the beginning of
/// what has a counterpart of its shape, and all of what begins alike. Tensors seen through a cut
/// are added to `candidate`.
void pair_by_content(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                     const ContentOf& content);

}  // namespace ttcheck::align
