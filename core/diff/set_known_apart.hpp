// SPDX-License-Identifier: Apache-2.0
#pragma once
// What somebody knows to differ, taken out of an answer before it is concluded.

#include "core/model/mesh.hpp"
#include "core/model/verdict.hpp"
#include "core/verdict/known_file.hpp"

namespace ttcheck::diff {

/// Takes out what `known` has an entry for: findings of a code and a tensor that it names, but
/// those that leave something unchecked; and results beyond their limits of such a tensor, of which
/// a finding says so, or none does and one of the step with that entry, and what of a trace only
/// passes such an error on. Counts the tensors as excluded by `known`, looks for the first
/// difference anew, and tells in `Verdict::known` how much was known and why. An entry that matches
/// nothing is a warning. REQUIRES that results are not counted yet.
void set_known_apart(const verdict::KnownFile& known, const Mesh& candidate_mesh, Verdict& verdict);

}  // namespace ttcheck::diff
