// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule of the bench for what the two sides cut or fuse in different ways.

#include <string_view>
#include <vector>

#include "core/align/bench.hpp"
#include "core/align/recast.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::align {

/// How each side's tensors may be seen.
struct Families {
  Readings reference, candidate;
};

/// Pairs what the two sides cut or fuse in different ways; the tensors seen through the maps are
/// added to `candidate`. `note`: goes behind the name of the rule.
void pair_recast(Bench& bench, std::vector<Tensor>& candidate, const Families& families,
                 const Numbers& numbers, std::string_view note = "");

/// Does pair_recast where one side has weights and the other masters alone, also across families.
void pair_masters_recast(Bench& bench, std::vector<Tensor>& candidate, const Families& families,
                         const Numbers& numbers);

}  // namespace ttcheck::align
