// SPDX-License-Identifier: Apache-2.0
#pragma once
// NaN and Inf of the candidate that the comparison of pairs does not show: of tensors that it alone
// has, that manifests or hashes told to be equal, or of which statistics alone were stored.

#include "core/diff/met.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// True where there are any; a note tells the first tensor and how many there are. Reads, once
/// more, every stored tensor of the candidate that is in none of the pairs of `met` and that no
/// filter leaves out; one that cannot be read becomes a finding that leaves the step incomplete.
bool unpaired_non_finite(const MetStep& met, const DiffOptions& how, Verdict& verdict);

}  // namespace ttcheck::diff
