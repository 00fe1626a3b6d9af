// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of the first difference.

#include <string>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// The result that `first` is about; null when it is a finding alone.
const TensorResult* result_of_first(const Verdict& verdict);

/// The finding that explains `first` best, notes aside: the first about that tensor that says why,
/// else the first about it; null if there is none.
const Finding* finding_of_first(const Verdict& verdict);

/// Further records in which an error came about by itself.
std::string other_roots(const Verdict& verdict);

/// "step 20: optimizer.pt is not there (TT505)" for the first few findings that stand in front of
/// that of the first difference; none without one.
std::vector<std::string> causes_before(const Verdict& verdict);

}  // namespace ttcheck::reports
