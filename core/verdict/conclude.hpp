// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything that was found -> one outcome for the run.

#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// Whether all that was asked for could be read and checked, as coverage and findings tell.
bool is_complete(const Verdict& verdict);

/// Sets `complete`, `outcome` and `reason` from coverage, tensors and findings. `precondition` is
/// the reason why the runs cannot be compared at all; empty: none.
void conclude(Verdict& verdict, const std::string& precondition);

}  // namespace ttcheck::verdict
