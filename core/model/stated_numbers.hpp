// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of a model that its files state, for dims and maps that name them.

#include <vector>

#include "core/model/fact.hpp"
#include "core/model/layout.hpp"

namespace ttcheck {

/// Whole `model.*` facts as the numbers that dims may name.
Numbers numbers_of(const std::vector<Fact>& facts);

}  // namespace ttcheck
