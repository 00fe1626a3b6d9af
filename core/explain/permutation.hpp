// SPDX-License-Identifier: Apache-2.0
#pragma once
// Are the reference's slices there, in another order?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// Along each dimension every slice of the candidate is looked for among the reference's; of a
/// square matrix also its rows among the columns. Where one slice across dimension 0 alone is wrong
/// (an expert of a stack), that one by itself. Not of more than 2^25 elements, nor along a
/// dimension of more than 2^20, nor where one element alone is wrong.
std::optional<Explanation> permutation(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
