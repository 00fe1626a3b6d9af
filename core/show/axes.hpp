// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axes of one tensor that `show` looks along, by the names that people have for them.

#include <vector>

#include "core/compare/profile.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::show {

/// Every dimension of more than one slice: by the name that either side's dims give it (`s` is the
/// position), of two unnamed ones rows and columns, else by its number; experts where it is as long
/// as there are of them. Beside it heads, where a dimension of an attention's tensor holds whole
/// ones. `numbers`: heads, kv_heads, head_dim, experts, where known.
std::vector<compare::AxisChoice> axes_to_show(const compare::Pair& pair, const Numbers& numbers);

}  // namespace ttcheck::show
