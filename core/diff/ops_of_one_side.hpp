// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ops that one side alone has shortly before the first difference: what is wrong may come out of
// them.

#include <string>

#include "core/diff/met.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// "; shortly before it only the candidate has a/gelu.0, only the reference has a/mul.0" of the
/// outputs that a rank made in one row before this one, at most three others between; empty where
/// there are none.
std::string lone_ops_words(const MetStep& met, const TensorResult& head);

}  // namespace ttcheck::diff
